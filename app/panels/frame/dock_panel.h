// What every dock looks like: a title with actions beside it, a body, or what to do while empty. A
// body that finds no room scrolls: no panel widens the window.
#pragma once

#include <QFrame>
#include <QString>
#include <filesystem>

#include "app/widgets/control_values.h"

class QDockWidget;
class QHBoxLayout;
class QLabel;
class QMainWindow;
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
  /// Whether it is visible and its dock no tab behind another, which is visible to Qt.
  [[nodiscard]] bool is_seen() const;
  /// The other tab before it has gone.
  virtual void come_to_front() {}
  /// What its controls are set to, as the session's file keeps it: by default all that have a name.
  /// What the session itself knows, as the selection, does not belong to it.
  [[nodiscard]] virtual ControlValues settings() const;
  /// Sets them as a user would. What is not there, or not possible here, is left as it is.
  virtual void restore_settings(const ControlValues& settings);
  /// Opens a file that only panels like this one read; false if it is no such panel. Throws Error.
  virtual bool open_document(const std::filesystem::path& file);

  /// Before the window closes: asks where that would lose something. False: it is to stay open.
  [[nodiscard]] virtual bool may_close() { return true; }

  /// Whether work for it was stopped by the user before it was done.
  [[nodiscard]] virtual bool is_stopped() const { return false; }
  /// Does what was stopped after all.
  virtual void go_on() {}

  /// A button at the right end of the title row.
  QToolButton* add_action(const QString& icon, const QString& name);
  /// One that asks for the whole window, and back.
  void add_enlarge_action();

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void link_chosen();
  /// Asks for a command of the window, by its id: "open_model".
  void command_wanted(const QString& id);
  /// Asks for a panel to be brought to the front, by its name.
  void panel_wanted(const QString& name);
  /// Asks for the whole window, or back to its place; `only_back`: for the latter alone.
  void enlarge_wanted(bool only_back);

 protected:
  /// Where the panel's content goes.
  [[nodiscard]] QVBoxLayout* body() { return body_; }
  void add_to_header(QWidget* widget);
  /// The width in pixels that it opens with where there is room.
  void set_preferred_width(int width) { preferred_width_ = width; }
  /// Shows `text` instead of the body; an empty text shows the body. A link in it emits
  /// link_chosen().
  void show_instead(const QString& text, bool is_error = false);
  /// The same, saying that what it would show was stopped, with a link that goes on.
  void show_stopped();

  void changeEvent(QEvent* event) override;

 private:
  void tint_icons();

  QString title_;
  QWidget* header_ = nullptr;
  QHBoxLayout* header_row_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  QVBoxLayout* body_ = nullptr;
  QLabel* instead_ = nullptr;
  int preferred_width_ = 0;
};

/// A dock of the window for a panel, titled, and named so that the layout can be remembered; empty
/// as yet.
[[nodiscard]] QDockWidget* empty_dock(QMainWindow& window, const QString& title,
                                      const QString& object_name);
/// Puts the panel into it; with a button to close it where it is not always there.
void fill_dock(QDockWidget& dock, DockPanel& panel, bool closes);

}  // namespace attnscope
