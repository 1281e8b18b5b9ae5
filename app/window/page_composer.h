// Dialog that composes a page of several figures: a list of figures, the page, and what its
// selected panel shows.
#pragma once

#include <QDialog>
#include <QTimer>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "app/window/page_draft.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QListWidget;
class QPushButton;
class QScrollArea;
class QTabWidget;

namespace attnscope {

class ExportTarget;
class FigureSettingsForm;
class PageCanvas;
class Session;

/// The page that is kept between dialogs and runs of the program; empty if there is none.
[[nodiscard]] PageDraft kept_page(const FigureRequest& open);
void keep_page(const PageDraft& draft, const FigureRequest& open);

class PageComposer : public QDialog {
  Q_OBJECT
 public:
  explicit PageComposer(Session& session, QWidget* parent = nullptr);
  ~PageComposer() override;

  [[nodiscard]] const PageDraft& draft() const { return draft_; }
  /// Opens the page of a file. Throws Error.
  void open_page(const std::filesystem::path& file);

 signals:
  void exported(const QString& file);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* make_side();
  QWidget* make_figures();
  QWidget* make_panel();
  QWidget* make_look();
  QWidget* make_page();
  void make_target();
  void add(const std::string& recipe, const std::optional<PagePlace>& place = {});
  void add_usual();
  void change();
  void show_look();
  void show_panel();
  void take_panel();
  void take_models();
  void take_width(double width_mm);
  void zoom();
  void want();
  void make();
  void take(DrawnPage drawn);
  void show_reason(const QString& why_not);
  void ask_for_page();
  bool save_page(bool ask);
  void write();
  void finish();

  Session& session_;
  FigureRequest open_;  ///< request for all subjects with a trace
  PageDraft draft_;
  std::filesystem::path file_;  ///< the page's own file; empty: none yet
  bool quiet_ = false;          ///< controls are being filled
  PageCanvas* canvas_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  QTabWidget* side_ = nullptr;
  QListWidget* figures_ = nullptr;
  QLabel* panel_title_ = nullptr;
  QListWidget* models_ = nullptr;
  FigureSettingsForm* settings_ = nullptr;
  QComboBox* place_ = nullptr;
  QDoubleSpinBox* width_ = nullptr;
  QDoubleSpinBox* font_size_ = nullptr;
  QCheckBox* letters_ = nullptr;
  QCheckBox* shared_legend_ = nullptr;
  QCheckBox* shared_colours_ = nullptr;
  QCheckBox* opens_ = nullptr;
  QComboBox* zoom_ = nullptr;
  QLabel* size_ = nullptr;
  QPushButton* usual_ = nullptr;
  QPushButton* caption_ = nullptr;
  QPushButton* write_ = nullptr;
  ExportTarget* target_ = nullptr;
  QTimer delay_;
  DrawnPage drawn_;
  bool current_ = false;  ///< drawn_ corresponds to the page
  bool writing_ = false;  ///< the file is written when the page is drawn
  QString why_not_;       ///< reason why the page cannot be exported; empty if it can
  std::int64_t job_ = 0, wanted_ = 0;
};

}  // namespace attnscope
