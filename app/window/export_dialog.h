// Dialog for exporting a figure: choice, appearance, caption, file, command line.
#pragma once

#include <QDialog>
#include <QTimer>
#include <memory>
#include <optional>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"

class QComboBox;
class QLabel;
class QListWidget;
class QPlainTextEdit;
class QPushButton;

namespace attnscope {

class ExportTarget;
class FigureLookForm;
class FigurePreview;
class FigureSettingsForm;
class Session;

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  explicit ExportDialog(Session& session, QWidget* parent = nullptr);

  /// Shows a figure with these settings. `subjects`: indices into the request of all subjects with
  /// a trace; those that the figure shows by default if empty.
  void show_figure(const std::string& recipe, const ParameterValues& settings,
                   const std::vector<std::size_t>& subjects = {});

 signals:
  void exported(const QString& file);
  void page_wanted();  ///< the page of several figures is to be composed

 private:
  QWidget* make_controls();
  QWidget* make_sheet();
  void make_target();
  void fill_figures();
  void take_recipe();
  void fill_subjects();
  [[nodiscard]] std::string recipe() const;
  [[nodiscard]] std::vector<std::size_t> chosen_subjects() const;
  [[nodiscard]] FigureRequest request() const;
  [[nodiscard]] FigureStyle figure_style() const;
  [[nodiscard]] std::string command() const;

  void want();
  void make();
  void dress();
  [[nodiscard]] QString why_not() const;
  void show_reason(const QString& why_not);
  void show_command();
  [[nodiscard]] QString proposal() const;
  void add_to_page();
  void show_page_state();
  void write();
  void set_writing(bool writing);
  void finish();

  Session& session_;
  FigureRequest open_;  ///< request for all subjects with a trace
  QComboBox* figure_ = nullptr;
  QLabel* source_ = nullptr;
  QListWidget* subjects_ = nullptr;
  FigureSettingsForm* settings_ = nullptr;
  FigureLookForm* look_ = nullptr;
  FigurePreview* preview_ = nullptr;
  QLabel* size_ = nullptr;
  QPlainTextEdit* caption_ = nullptr;
  QPlainTextEdit* command_ = nullptr;
  QPushButton* page_ = nullptr;
  QPushButton* show_page_ = nullptr;
  ExportTarget* target_ = nullptr;
  QPushButton* write_ = nullptr;

  QTimer delay_;
  std::optional<Figure> made_;  ///< the figure without the chosen style
  bool current_ = false;        ///< true if made_ corresponds to the controls
  QString why_not_;             ///< reason why the figure cannot be made; empty if it can
  bool writing_ = false;        ///< the file is written when the figure is complete
  bool own_caption_ = false;    ///< the user edited the caption
  std::int64_t job_ = 0, wanted_ = 0;
};

}  // namespace attnscope
