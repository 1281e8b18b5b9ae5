// The docks of panels(): made, placed, shown, remembered. The window knows none of them by name.
#pragma once

#include <QObject>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "app/panels/panels.h"
#include "app/session/session.h"
#include "app/widgets/control_values.h"
#include "core/parameters/parameters.h"

class QDockWidget;
class QMainWindow;
class QMenu;

namespace attnscope {

class FigurePanel;
class SideRoom;

class PanelDocks : public QObject {
  Q_OBJECT
 public:
  PanelDocks(QMainWindow& window, const PanelContext& context);
  ~PanelDocks() override;

  struct PanelDock {
    const PanelEntry* entry;
    QDockWidget* dock;
    DockPanel* panel = nullptr;   ///< null until it is first seen
    ControlValues settings = {};  ///< what it is to be set to once it is made
  };
  /// In the order of panels().
  [[nodiscard]] const std::vector<PanelDock>& all() const { return docks_; }

  /// Places them in the window, and lists them in `menu`.
  void place(QMenu& menu);
  /// Their first widths and heights, once the window has its own.
  void arrange();
  /// The same of the sides' widths when the window has another, unless the user has chosen them.
  void follow_window();
  /// The figure in the panel that has the keys, or null.
  [[nodiscard]] static FigurePanel* figure_with_keys();
  /// Brings a panel to the front, opening its dock. Throws Error(usage) listing them.
  void show(const std::string& name);
  /// Opens a file that one of the panels reads, as a lesson, and shows that panel. False if none
  /// reads it. Throws Error.
  bool open_document(const std::filesystem::path& file);
  /// Hides what stands beside the atlases there, or shows it again.
  enum class Side { left, right };
  void toggle(Side side);
  /// Both sides as wide as they are at first.
  void take_usual_widths() { set_side_widths(usual_widths()); }
  /// Hides what has no part in a presentation.
  void hide_for_presentation();
  /// Shows again what has given way to another for want of room, as before a layout is remembered.
  void give_back();
  /// While it holds, nothing gives way or comes back as docks open and close.
  void hold_still(bool still);

  [[nodiscard]] PanelSettings settings() const;
  void restore_settings(const PanelSettings& settings);
  /// Every panel that is seen shows what the session asks for.
  [[nodiscard]] bool settled() const;

 signals:
  void command_wanted(const QString& id);
  void panel_wanted(const QString& name);
  void enlarge_wanted(QDockWidget* dock);  ///< its title was double-clicked
  /// Of a panel's figure, or a subject named in one.
  void export_wanted(const std::string& recipe, const ParameterValues& settings);
  void rename_wanted(const QString& subject);
  void place_wanted();  ///< what is enlarged is to give the window back

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Of the left and the right side, in pixels.
  [[nodiscard]] std::array<int, 2> usual_widths() const;
  void set_side_widths(const std::array<int, 2>& widths);
  /// There is one at every place.
  [[nodiscard]] QDockWidget* first_at(PanelPlace place) const;

  /// Makes its panel, if there is none yet.
  DockPanel& made(PanelDock& one);

  QMainWindow& window_;
  const PanelContext context_;
  std::vector<PanelDock> docks_;
  SideRoom* side_room_ = nullptr;
  std::array<int, 2> side_widths_{};                 // as set last
  std::array<std::vector<QDockWidget*>, 2> closed_;  // by toggle, at either side
};

}  // namespace attnscope
