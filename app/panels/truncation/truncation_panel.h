// Cut it off and see: the open models' maps at lower and lower ranks, and what becomes of their
// answers over a data set, or over the open text.
#pragma once

#include <QTemporaryDir>
#include <filesystem>

#include "analysis/figure/recipe.h"
#include "app/panels/frame/dock_panel.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace attnscope {

class Session;
struct StudyRequest;

class TruncationPanel : public DockPanel {
  Q_OBJECT
 public:
  explicit TruncationPanel(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] bool is_behind() const override;
  /// What the view in front shows; null before the first.
  [[nodiscard]] const Figure* figure() const;

 private:
  QWidget* make_fields();
  void add_views();
  void browse_data_set();
  void browse_result();
  void start_or_stop();
  void start();
  /// Asks for what is open; false, having said why, where nothing can be asked.
  [[nodiscard]] bool take_data(StudyRequest& request);
  void show_progress();
  void refresh();
  void stopped(const QString& note);
  [[nodiscard]] FigureRequest request(const std::string& show) const;
  [[nodiscard]] std::filesystem::path out() const;
  [[nodiscard]] std::filesystem::path shown_file() const;

  Session& session_;
  QTemporaryDir folder_;  ///< of results that nobody wants to keep
  QLineEdit* data_set_;
  QLineEdit* result_;
  QSpinBox* count_;
  QComboBox* cut_;
  QCheckBox* rows_;
  QPushButton* button_;
  QProgressBar* progress_;
  QLabel* note_;
  QStackedWidget* pages_;
  std::int64_t job_ = 0;
};

}  // namespace attnscope
