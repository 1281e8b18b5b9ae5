// Trains networks while the user watches: settings, start, pause, step, rate and stop, and curves
// of loss, accuracy, rank and entropy.
#pragma once

#include <QTemporaryDir>
#include <filesystem>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "app/panels/training/training_figure.h"
#include "app/session/training_presets.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QStackedWidget;
class QToolButton;

namespace attnscope {

class BrowseButton;
class NumberSlider;
class Session;
class FigureView;
class CheckpointsPage;
class TrainingSession;
class VariantRows;

class TrainingPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Train");

  explicit TrainingPanel(Session& session, QWidget* parent = nullptr);
  ~TrainingPanel() override;

  [[nodiscard]] bool is_behind() const override;
  /// "training": networks that learn; "over-training": the checkpoints of a finished training.
  bool show_page(const std::string& page) override;
  /// Opens a folder of checkpoints.
  bool open_document(const std::filesystem::path& file) override;
  /// Without the shown checkpoint, which belongs to the folder and is not kept.
  [[nodiscard]] ControlValues settings() const override;
  /// Asks the user if networks are training, or were trained in a folder that is deleted with the
  /// window.
  [[nodiscard]] bool may_close() override;
  [[nodiscard]] const TrainingSession& training() const { return *training_; }
  /// The figure of the plot; null before the first.
  [[nodiscard]] const Figure* figure() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void add_pages();
  QWidget* make_fields();
  QWidget* make_buttons();
  void add_views();
  void choose_preset(int index);
  void begin();
  void start_or_pause();
  void resume_folder();
  void open_input();
  bool keep_networks();
  [[nodiscard]] std::filesystem::path out();
  [[nodiscard]] std::vector<PresetVariant> wanted() const;
  void show_note(const QString& note, bool is_error = false);
  void show_state();
  void draw_curves();

  Session& session_;
  QTemporaryDir folder_;  ///< folder of runs that the user does not keep
  int begun_ = 0;         ///< number of runs in folder_
  std::vector<TrainingPreset> presets_;
  TrainingSession* training_;
  QComboBox* preset_;
  VariantRows* rows_;
  QLineEdit* data_set_;
  BrowseButton* browse_data_;
  QLineEdit* kept_in_;
  QLineEdit* further_;
  QSpinBox* steps_;
  NumberSlider* rate_;
  QPushButton *start_, *step_, *stop_, *resume_;
  QLabel* note_;
  FigureView* plot_;
  QWidget* views_;  ///< choice of the plot's curves
  QToolButton *as_training_, *as_checkpoints_;
  QStackedWidget* pages_;
  CheckpointsPage* checkpoints_;
  TrainingView view_ = TrainingView::accuracy;
  std::vector<TrainingCurve> drawn_;
};

}  // namespace attnscope
