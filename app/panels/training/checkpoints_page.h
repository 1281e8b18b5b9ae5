// Scrubs and plays finished trainings from checkpoint to checkpoint.
#pragma once

#include <QImage>
#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/spectrum/spectrum.h"
#include "app/panels/frame/dock_panel.h"

class QLabel;
class QSlider;
class QToolButton;

namespace attnscope {

class Session;
class FigureView;
class TrainingSteps;

class CheckpointsPage : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Checkpoints");

  explicit CheckpointsPage(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// The shown step belongs to the folder, which sessions do not keep.
  [[nodiscard]] ControlValues settings() const override { return {}; }
  void restore_settings(const ControlValues&) override {}
  /// Opens a folder of checkpoints.
  bool open_document(const std::filesystem::path& file) override;
  [[nodiscard]] const TrainingSteps& training() const { return *training_; }
  /// Plays from the first step and writes the middle of the window at each step into `folder` as
  /// step-000128.png.
  void write_pictures(const std::filesystem::path& folder);
  /// Plays from the first step and writes one animated PNG, with the playback's duration per step.
  void write_film(const std::filesystem::path& file);
  /// Writes the selected map at every step of the first training, side by side: the figure
  /// attention-maps, as exported by export_figure.
  void write_strip(const std::filesystem::path& file);

 private:
  /// Adds the middle of the window as a frame of the film.
  void add_to_film();
  void finish_film();
  QWidget* make_controls();
  void choose_folder();
  void open_folder(const std::filesystem::path& folder);
  void move(int by);
  void play(bool on);
  void play_on();
  void write_picture();
  void choose_pictures();
  void choose_film();
  void choose_strip();
  void play_from_the_first();
  void show_state();
  /// Computes the spectra of the next step that was sent and has none.
  void compute_ranks();
  /// Draws the mean rank of each series over the steps whose spectra are known.
  void show_ranks();
  void show_note(const QString& note, bool is_error);

  Session& session_;
  TrainingSteps* training_;
  QTimer clock_;
  QSlider* slider_;
  QToolButton *back_, *play_, *forth_, *pictures_, *film_, *strip_;
  std::filesystem::path pictures_in_;  ///< folder; set while pictures are written
  std::filesystem::path film_file_;    ///< file; set while a film is recorded
  std::vector<QImage> film_frames_;
  bool seen_ = false;  ///< the step was idle for a moment
  struct SentSpectra {
    std::shared_ptr<const Trace> trace;
    std::vector<MapSpectrum> spectra;  ///< empty until they are computed
  };
  /// Spectra of maps that were sent, by series and step.
  std::map<std::pair<std::string, std::int64_t>, SentSpectra> sent_;
  std::int64_t rank_job_ = 0;  ///< 0: none
  FigureView* ranks_;
  QLabel *step_, *note_;
};

}  // namespace attnscope
