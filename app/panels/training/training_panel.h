// Networks that learn while one looks: what is to be compared, start, pause, step, rate and stop,
// and how their losses, accuracies, ranks and entropies go.
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

namespace attnscope {

class BrowseButton;
class NumberSlider;
class Session;
class TrainingPlot;
class TrainingSession;
class VariantRows;

class TrainingPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Train");

  explicit TrainingPanel(Session& session, QWidget* parent = nullptr);
  ~TrainingPanel() override;

  [[nodiscard]] bool is_behind() const override;
  /// Asks where networks learn, or have learnt in a folder that goes with the window.
  [[nodiscard]] bool may_close() override;
  [[nodiscard]] const TrainingSession& training() const { return *training_; }
  /// What the plot shows; null before the first.
  [[nodiscard]] const Figure* figure() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* make_fields();
  QWidget* make_buttons();
  void add_views();
  void choose_preset(int index);
  void begin();
  void start_or_pause();
  void go_on_with_folder();
  void open_input();
  bool keep_networks();
  [[nodiscard]] std::filesystem::path out();
  [[nodiscard]] std::vector<PresetVariant> wanted() const;
  void say(const QString& note, bool is_error = false);
  void show_state();
  void draw_curves();

  Session& session_;
  QTemporaryDir folder_;  ///< of runs that nobody wants to keep
  int begun_ = 0;         ///< of these
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
  QPushButton *start_, *step_, *stop_, *go_on_;
  QLabel* note_;
  TrainingPlot* plot_;
  TrainingView view_ = TrainingView::accuracy;
  std::vector<TrainingCurve> drawn_;
};

}  // namespace attnscope
