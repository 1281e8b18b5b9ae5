// The open models over a whole data set: spectra, ranks and quantities that grow while it runs.
#pragma once

#include <filesystem>

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace attnscope {

class BrowseButton;
class Session;
struct SweepRequest;

class SweepPanel : public DockPanel {
  Q_OBJECT
 public:
  explicit SweepPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// What the view in front shows; null before the first.
  [[nodiscard]] const Figure* figure() const;

 private:
  QWidget* make_fields();
  void browse_result();
  void start_or_stop();
  void start();
  void show_progress();
  /// Draws what is on disk: finished, or as far as it is.
  void refresh();
  void stopped(const QString& note);
  [[nodiscard]] FigureRequest request() const;
  [[nodiscard]] std::filesystem::path shown_file() const;

  Session& session_;
  BrowseButton* browse_data_;
  QLineEdit* data_set_;
  QLineEdit* result_;
  QSpinBox* count_;
  QCheckBox* restart_;
  QPushButton* button_;
  QProgressBar* progress_;
  QLabel* note_;
  QStackedWidget* pages_;
  std::int64_t job_ = 0;
};

}  // namespace attnscope
