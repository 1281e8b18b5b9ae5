// Time as an axis: trainings that have ended, scrubbed and played from step to step.
#pragma once

#include <QImage>
#include <QTimer>
#include <vector>

#include "app/panels/frame/dock_panel.h"

class QLabel;
class QSlider;
class QToolButton;

namespace attnscope {

class Session;
class TrainingSteps;

class OverTrainingPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Over training");

  explicit OverTrainingPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// A folder of checkpoints.
  bool open_document(const std::filesystem::path& file) override;
  [[nodiscard]] const TrainingSteps& training() const { return *training_; }
  /// Plays from the first step and writes what the middle of the window shows at each into
  /// `folder`: step-000128.png.
  void write_pictures(const std::filesystem::path& folder);
  /// Plays so and writes one animated PNG, in which a step is seen as long as while playing.
  void write_film(const std::filesystem::path& file);
  /// The selected map at every step of the first training, side by side: the figure attention-maps,
  /// as export_figure writes it.
  void write_strip(const std::filesystem::path& file);

 private:
  /// Adds what the middle of the window shows to a film.
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
  void say(const QString& note, bool is_error);

  Session& session_;
  TrainingSteps* training_;
  QTimer clock_;
  QSlider* slider_;
  QToolButton *back_, *play_, *forth_, *pictures_, *film_, *strip_;
  std::filesystem::path pictures_in_;  ///< while they are written
  std::filesystem::path film_file_;    ///< while it is taken
  std::vector<QImage> film_frames_;
  bool seen_ = false;  ///< the step stood still for a moment
  QLabel *step_, *note_;
};

}  // namespace attnscope
