// The window: it places the panels and turns commands into calls of the session.
#pragma once

#include <QMainWindow>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/window/theme.h"

namespace attnscope {

class AtlasArea;
class Commands;
class DockPanel;
class NoticeBar;
class RecentFiles;
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
  void restore_session(const std::filesystem::path& file);
  void set_theme(Theme theme);
  /// Brings a panel of panels() to the front, opening its dock. Throws Error(usage) listing them.
  void show_panel(const std::string& name);

  /// No job runs, and every view shows what the session holds.
  [[nodiscard]] bool settled() const;

 protected:
  void showEvent(QShowEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void place_panels();
  void make_commands();
  void ask_for_model();
  void ask_for_input();
  void save_session(bool ask);
  void ask_for_session();
  void export_figure();
  void show_gallery();
  void show_keys();
  void show_about();
  void toggle_identity();
  void pin_selected();
  void toggle_difference();
  void select_subject(std::int64_t subject);
  void select_class_token();
  void walk(std::int64_t layers, std::int64_t heads);

  Session& session_;
  std::unique_ptr<SpectrumStore> spectra_;
  std::unique_ptr<Commands> commands_;
  RecentFiles* recent_;
  AtlasArea* atlases_ = nullptr;
  std::vector<const DockPanel*> panels_;
  NoticeBar* notice_ = nullptr;
  GalleryWindow* gallery_ = nullptr;
  std::filesystem::path session_file_;
  Theme theme_;
  bool arranged_ = false;
};

}  // namespace attnscope
