// The window: it places the panels and turns commands into calls of the session.
#pragma once

#include <QMainWindow>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/look/theme.h"
#include "app/window/preferences.h"
#include "core/parameters/parameters.h"

namespace attnscope {

class AtlasArea;
class AtlasLink;
class Autosave;
class Commands;
class ComparisonStore;
class Enlargement;
class History;
class Layouts;
class ManualWindow;
class MapMenu;
class NoticeBar;
class PanelDocks;
class RecentFiles;
class Recovery;
class Session;
class GalleryWindow;
class SpectrumStore;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow(Session& session, Theme theme, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Opens a model, a trace, an input or a session, whichever the file is.
  void open_file(const std::filesystem::path& file);
  /// The two sample models on the first sample image.
  void open_samples();
  /// Throws Error where the session cannot be read.
  void open_session(const std::filesystem::path& file);
  /// The same, with a notice in place of the error.
  void restore_session(const std::filesystem::path& file);
  void set_theme(Theme theme);
  /// Look, and what new sessions begin with.
  void set_preferences(const Preferences& preferences);
  /// The docks' places are kept from run to run, and the session is saved into `folder` while the
  /// program runs; what a crash left there is offered to be opened.
  void remember_between_runs(const std::filesystem::path& folder);
  /// Whether `folder` holds what was open when the program last ended in order.
  [[nodiscard]] static bool remembers_last(const std::filesystem::path& folder);
  /// Opens that; false if it is not known.
  bool reopen_last();
  /// Brings a panel of panels() to the front, opening its dock. Throws Error(usage) listing them.
  void show_panel(const std::string& name);

  /// A file that one of the panels reads: a lesson. Throws Error (io, damaged).
  void open_document(const std::filesystem::path& file);

  /// No job runs, and every view shows what the session holds.
  [[nodiscard]] bool settled() const;

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void place_everything();
  void keep_panel_settings();
  [[nodiscard]] bool anything_stopped() const;
  void make_commands();
  void ask_for_model();
  void ask_for_input();
  void ask_for_folder();
  void fill_samples(QMenu& menu);
  void save_session(bool ask);
  void ask_for_session();
  /// A session file of ours, not the user's: saving asks where to. False if it cannot be read.
  bool restore_unnamed(const std::filesystem::path& file);
  void export_figure();
  void export_so(const std::string& recipe, const ParameterValues& settings);
  void show_gallery();
  void ask_for_command();
  void ask_for_preferences();
  void apply_look();
  void show_history();
  void show_manual(const QString& page);
  void show_keys();
  void show_about();
  void toggle_identity();
  void next_map_number();
  void toggle_sorted();
  void pin_selected();
  void toggle_difference();
  void toggle_presentation();
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
  ManualWindow* manual_ = nullptr;
  Preferences preferences_;
  AtlasArea* atlases_ = nullptr;
  Enlargement* enlargement_ = nullptr;
  NoticeBar* notice_ = nullptr;
  GalleryWindow* gallery_ = nullptr;
  std::filesystem::path session_file_;
  bool arranged_ = false;
  std::filesystem::path remembered_;  // the folder for what is kept between runs; empty: nothing
  bool presenting_ = false;
  QByteArray before_presenting_;  // the docks' places
};

}  // namespace attnscope
