// The main window: places the panels and turns commands into calls of the session.
#pragma once

#include <QMainWindow>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/look/theme.h"
#include "app/window/panel_docks.h"
#include "app/window/preferences.h"
#include "core/parameters/parameters.h"

namespace attnscope {

class AtlasArea;
class AtlasLink;
class Autosave;
class Commands;
struct Command;
class ComparisonStore;
class Enlargement;
class FirstMinuteCard;
class Highlight;
class History;
class Layouts;
class ManualWindow;
class MapMenu;
class NoticeBar;
class RecentFiles;
class Recovery;
class Session;
class GalleryWindow;
class SpectrumStore;
class ViewMenus;
enum class IdentityView;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow(Session& session, Theme theme, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Sets the size, at most that of the screen without its panels and the window's own frame.
  void resize_within_screen(QSize wanted);
  /// Opens a model, a trace, an input or a session, depending on the file.
  void open_file(const std::filesystem::path& file);
  /// Opens the two sample models on the first sample image.
  void open_samples();
  /// Explains the window on the first two models, which are opened if there are fewer.
  void show_first_minute();
  /// Opens a session. Throws Error if it cannot be read.
  void open_session(const std::filesystem::path& file);
  /// Like open_session, but shows a notice instead of throwing.
  void restore_session(const std::filesystem::path& file);
  void set_theme(Theme theme);
  /// Applies the look, and sets the view's colour map, threshold and layer numbering.
  void set_preferences(const Preferences& preferences);
  /// Keeps the layout of the docks between runs and saves the session into `folder` while the
  /// program runs. Sessions that a crash left there are offered for recovery.
  void remember_between_runs(const std::filesystem::path& folder);
  /// True if `folder` holds the session that was open at the last regular end of the program.
  [[nodiscard]] static bool remembers_last(const std::filesystem::path& folder);
  /// Opens the session of the last regular end; false if there is none or it cannot be read.
  bool reopen_last();
  /// Brings a panel of panels() to the front and opens its dock. Throws Error(usage) with the list
  /// of panels.
  void show_panel(const std::string& name);

  /// Opens a file that one of the panels reads, such as a lesson, or the folder of a training,
  /// which is watched and may be empty. Throws Error (io, damaged).
  void open_document(const std::filesystem::path& file);
  /// Names an exported file and offers to open it, to show its folder, or to copy its path.
  void show_exported(const QString& file);

  /// True if no job runs and every view shows the session's present state.
  [[nodiscard]] bool settled() const;

 signals:
  /// The user asked for a model on another machine: an address such as "ssh://host/folder/model".
  void remote_wanted(const QString& address);

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void place_everything();
  void keep_panel_settings();
  [[nodiscard]] bool anything_stopped() const;
  void make_commands();
  /// Adds the commands that bring panels and their pages to the front.
  void add_panel_commands(QList<Command>& list);
  void enable_panel_commands();
  void ask_for_model();
  void ask_for_input();
  void ask_for_folder();
  void ask_for_watched_folder();
  void ask_for_remote();
  void fill_samples(QMenu& menu);
  void save_session(bool ask);
  void ask_for_session();
  /// Restores a session file that is not the user's, so saving asks for a file name. False if it
  /// cannot be read.
  bool restore_unnamed(const std::filesystem::path& file);
  void export_figure();
  void export_so(const std::string& recipe, const ParameterValues& settings,
                 const std::vector<std::size_t>& subjects = {});
  /// Asks for a file and writes the maps of all models into it as one page of HTML, in a job.
  void export_html();
  void compose_page();
  void show_gallery();
  void ask_for_command();
  void ask_for_preferences();
  void apply_look();
  void show_history();
  void show_manual(const QString& page);
  void show_keys();
  void show_about();
  /// Shows the maps with the I that they are without, or the other way round; again: as before.
  void toggle_identity();
  void next_map_number();
  void toggle_sorted();
  void pin_selected();
  void toggle_difference();
  void toggle_presentation();
  void show_lessons();
  void lessons_closed();
  void select_subject(std::size_t place);
  void walk(std::int64_t layers, std::int64_t heads);

  Session& session_;
  std::unique_ptr<SpectrumStore> spectra_;
  std::unique_ptr<ComparisonStore> comparisons_;
  std::unique_ptr<AtlasLink> link_;
  std::unique_ptr<Commands> commands_;
  RecentFiles* recent_;
  History* history_;
  QMenu* recent_menu_;
  QMenuBar* menus_ = nullptr;
  PanelDocks* docks_ = nullptr;
  Autosave* autosave_ = nullptr;
  Recovery* recovery_ = nullptr;
  Layouts* layouts_ = nullptr;
  ViewMenus* view_menus_ = nullptr;
  ManualWindow* manual_ = nullptr;
  Preferences preferences_;
  AtlasArea* atlases_ = nullptr;
  Enlargement* enlargement_ = nullptr;
  MapMenu* map_menu_ = nullptr;
  NoticeBar* notice_ = nullptr;
  Highlight* drop_highlight_ = nullptr;  // while files hang over the window
  FirstMinuteCard* first_minute_ = nullptr;
  GalleryWindow* gallery_ = nullptr;
  std::filesystem::path session_file_;
  bool arranged_ = false;
  std::filesystem::path remembered_;  // folder for data kept between runs; empty: none
  bool presenting_ = false;
  double presented_scale_ = 1;  // scale of letters, by the window's width in a presentation
  /// The view before and after the last toggle of I.
  struct IdentityToggle {
    IdentityView before, after;
  };
  std::optional<IdentityToggle> identity_toggle_;
  // The layout before the presentation, kept until the window has its former size again.
  std::optional<DockPlaces> before_presenting_;
  QSize size_before_presenting_;
  Qt::WindowStates state_before_presenting_;
  std::optional<DockPlaces> before_lessons_;  // set while F2's layout is shown
};

}  // namespace attnscope
