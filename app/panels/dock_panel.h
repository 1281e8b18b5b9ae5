// What every dock looks like: a title with actions beside it, a body, or what to do while empty.
#pragma once

#include <QFrame>
#include <QString>

class QDockWidget;
class QHBoxLayout;
class QLabel;
class QStackedLayout;
class QToolButton;
class QVBoxLayout;

namespace attnscope {

class DockPanel : public QFrame {
  Q_OBJECT
 public:
  DockPanel(const QString& title, QWidget* parent = nullptr);

  /// The title row, to be a dock's title bar.
  [[nodiscard]] QWidget* header() { return header_; }
  [[nodiscard]] const QString& title() const { return title_; }
  /// True while it is seen and does not show yet what the session asks for.
  [[nodiscard]] virtual bool is_behind() const { return false; }

 protected:
  /// Where the panel's content goes.
  [[nodiscard]] QVBoxLayout* body() { return body_; }
  /// A button at the right end of the title row.
  QToolButton* add_action(const QString& icon, const QString& name);
  void add_to_header(QWidget* widget);
  /// Shows `text` instead of the body; an empty text shows the body.
  void show_instead(const QString& text, bool is_error = false);

  void changeEvent(QEvent* event) override;

 private:
  void tint_icons();

  QString title_;
  QWidget* header_ = nullptr;
  QHBoxLayout* header_row_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  QVBoxLayout* body_ = nullptr;
  QLabel* instead_ = nullptr;
};

/// A dock for the panel, titled and named so that the layout can be remembered.
[[nodiscard]] QDockWidget* dock_of(DockPanel* panel, const QString& object_name);

}  // namespace attnscope
