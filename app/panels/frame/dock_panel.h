// Common frame of all docks: a title with actions, and a body or a text in its place. A body that
// is too large scrolls, so that no panel widens the window.
#pragma once

#include <QFrame>
#include <QString>
#include <filesystem>
#include <string>
#include <vector>

#include "app/widgets/control_values.h"
#include "core/parameters/parameters.h"

class QDockWidget;
class QHBoxLayout;
class QLabel;
class QMainWindow;
class QStackedLayout;
class QToolButton;
class QVBoxLayout;

namespace attnscope {

class ElidedLabel;
struct MatrixChoice;

class DockPanel : public QFrame {
  Q_OBJECT
 public:
  DockPanel(const QString& title, QWidget* parent = nullptr);

  /// The title row, used as the dock's title bar.
  [[nodiscard]] QWidget* header() { return header_; }
  [[nodiscard]] const QString& title() const { return title_; }
  /// True: the title is left out where it does not fit, because a tab names the panel, too. False:
  /// it is shortened.
  void set_named_by_tab(bool named);
  /// A title for where the whole one does not fit.
  void set_short_title(const QString& title);
  /// True while the panel is seen and does not yet show the session's current state.
  [[nodiscard]] virtual bool is_behind() const { return false; }
  /// True if the panel is visible and not covered by another tab (Qt calls covered docks visible).
  [[nodiscard]] bool is_seen() const;
  /// Called when the tab in front of it has gone.
  virtual void come_to_front() {}
  /// Values of its controls, which session files keep; by default of all named controls. State of
  /// the session itself, such as the selection, is not included.
  [[nodiscard]] virtual ControlValues settings() const;
  /// Sets the controls like a user would. Values without a control, or not possible here, are
  /// ignored.
  virtual void restore_settings(const ControlValues& settings);
  /// Brings the page of that name to the front; false if the panel has no such page. Also called
  /// with the panel's own name when the panel itself is chosen.
  virtual bool show_page(const std::string& page);
  /// Opens a file that only this kind of panel reads; false if it does not read files. Throws
  /// Error.
  virtual bool open_document(const std::filesystem::path& file);

  /// Called before the window closes: asks the user if closing would lose data. False keeps the
  /// window open.
  [[nodiscard]] virtual bool may_close() { return true; }

  /// True if the user stopped its work before the end.
  [[nodiscard]] virtual bool is_stopped() const { return false; }
  /// Resumes the stopped work.
  virtual void resume() {}

  /// Makes the panel a page of another: what its title row holds besides the title is put above the
  /// content.
  void become_page();
  /// Adds a button at the right end of the title row.
  QToolButton* add_action(const QString& icon, const QString& name);
  /// Adds a button that toggles between the whole window and the dock.
  void add_enlarge_action();

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void link_chosen();
  /// Requests a command of the window by its id, such as "open_model".
  void command_wanted(const QString& id);
  /// Requests a panel to be brought to the front, by name.
  void panel_wanted(const QString& name);
  /// Requests a page of the manual, by name, such as "papers".
  void manual_wanted(const QString& page);
  /// Requests the dialog that exports a figure with these settings. `subjects` are those drawn, as
  /// indices into request_of(session); empty if the figure shows none of them.
  void export_wanted(const std::string& recipe, const ParameterValues& settings,
                     const std::vector<std::size_t>& subjects);
  /// Requests the whole window, or the dock again; `only_back` only requests the latter.
  void enlarge_wanted(bool only_back);

 protected:
  /// Layout for the panel's content.
  [[nodiscard]] QVBoxLayout* body() { return body_; }
  void add_to_header(QWidget* widget);
  /// Shows in the title row what the content is of, such as the model, layer and head.
  void set_note(const QString& note);
  /// Shows "of scores" in the title row; nothing for the unchanged attention map.
  void note_matrix(const MatrixChoice& matrix);
  /// Sets the initial width in pixels, used if there is space.
  void set_preferred_width(int width) { preferred_width_ = width; }
  /// Shows `text` instead of the body; an empty text shows the body. A link in the text emits
  /// link_chosen().
  void show_instead(const QString& text, bool is_error = false);
  /// Shows instead of the body that the work was stopped, with a link that resumes it.
  void show_stopped();

  void changeEvent(QEvent* event) override;

 private:
  void set_icons();

  QString title_;
  QWidget* header_ = nullptr;
  QHBoxLayout* header_row_ = nullptr;
  ElidedLabel* name_ = nullptr;
  ElidedLabel* note_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  QVBoxLayout* body_ = nullptr;
  QLabel* instead_ = nullptr;
  int preferred_width_ = 0;
  bool named_by_tab_ = true;
};

/// An empty dock of the window for a panel, with a title and an object name for saved layouts.
[[nodiscard]] QDockWidget* empty_dock(QMainWindow& window, const QString& title,
                                      const QString& object_name);
/// Puts the panel into the dock, with a button that closes it.
void fill_dock(QDockWidget& dock, DockPanel& panel);

}  // namespace attnscope
