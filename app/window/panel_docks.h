// The docks of panels(): creation, placement, visibility and settings. The window knows none of
// them by name. A dock is closed by its ×; choosing it brings it to the front. The dock of a panel
// that has no content is not there.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QList>
#include <QObject>
#include <QSize>
#include <QTimer>
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

namespace attnscope {

class FigurePanel;

/// Hides side docks when the window is too narrow for them, or its font too large: first the left
/// ones, then the right ones, and both earlier while a dock for reading is open. They reappear with
/// their former widths when the window grows or the reading dock closes.
class SideLayout : public QObject {
  Q_OBJECT
 public:
  /// `left`, `right`: the docks that may be hidden; `read`: the reading docks that replace them.
  SideLayout(QMainWindow& window, QList<QDockWidget*> left, QList<QDockWidget*> right,
             QList<QDockWidget*> read);

  /// Shows the hidden docks, as before a layout is stored.
  void restore();
  /// While `still`, no docks are hidden or shown automatically. Returns the former value.
  bool hold_still(bool still);
  [[nodiscard]] bool is_still() const { return still_; }
  /// Hides or shows docks as the window's width and the reading docks require. `again`: also hides
  /// docks that the user has opened since they were hidden.
  void arrange(bool again = false);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// One column, and its docks hidden by this class instead of the user.
  struct Side {
    QList<QDockWidget*> docks;
    /// Minimum window widths at the default font size for the column to stay: without a reading
    /// dock, and with one.
    int least_width, least_beside;
    int width;  ///< while no reading dock was open
    QList<QDockWidget*> away = {};
    QList<QDockWidget*> in_front = {};  ///< the front docks among tabs
  };
  void put_away(Side& side, bool again);
  void restore(Side& side);
  void widen(QDockWidget* dock);
  [[nodiscard]] bool reading() const;
  void begin_reading();
  void end_reading();

  QMainWindow& window_;
  Side left_, right_;
  QList<QDockWidget*> read_;
  QHash<QDockWidget*, QSize> sizes_;   ///< sizes while no reading dock was open
  QHash<QDockWidget*, QSize> before_;  ///< sizes when the present reading dock was opened
  bool reading_ = false, still_ = false;
};

/// The layout of the docks at one moment.
struct DockPlaces {
  QByteArray state;
  QList<QDockWidget*> docks;  ///< docks in front, with their sizes
  QList<QSize> sizes;
};

class PanelDocks : public QObject {
  Q_OBJECT
 public:
  PanelDocks(QMainWindow& window, const PanelContext& context);
  ~PanelDocks() override;

  struct PanelDock {
    const PanelEntry* entry;
    QDockWidget* dock;
    DockPanel* panel = nullptr;   ///< null until the dock is first visible
    ControlValues settings = {};  ///< settings to apply once the panel is created
    bool absent = false;          ///< hidden because it has no content
    bool asked_for = false;       ///< shown on request although it has none
  };
  /// The docks in the order of panels().
  [[nodiscard]] const std::vector<PanelDock>& all() const { return docks_; }

  /// Places the docks in the window.
  void place();
  /// Sets the initial widths and heights, once the window has a size.
  void arrange();
  /// Adapts the sides' widths to a new window size, unless the user has changed them.
  void follow_window();
  /// The figure in the panel with the keyboard focus, or null.
  [[nodiscard]] static FigurePanel* figure_with_keys();
  /// Brings a panel, or the panel with a page of that name, to the front and opens its dock. Throws
  /// Error(usage) with the list of panels.
  void show(const std::string& name);
  [[nodiscard]] bool has_content(const PanelDock& one) const;
  /// Hides the docks of panels without content, and shows them again once they have some.
  void follow_content();
  /// Adapts the docks to a layout that was restored: it does not say which panels have content.
  void take_layout();
  /// Opens a file that one of the panels reads, such as a lesson, and shows that panel. False if
  /// none reads it. Throws Error.
  bool open_document(const std::filesystem::path& file);
  /// Hides the docks on one side of the atlases, or shows them again.
  enum class Side { left, right };
  void toggle(Side side);
  /// Restores the default widths of both sides.
  void take_usual_widths() { set_side_widths(usual_widths()); }
  /// Shows only what a presentation speaks of: the panel `spoken_of` (empty: none), and the open
  /// dock that is read or worked in, or without one the open panels that are presented.
  void present(const std::string& spoken_of = {});
  /// Shares the width between the docks of a presentation and the maps.
  void share_room();
  [[nodiscard]] DockPlaces places() const;
  /// Restores a layout exactly, also if other letters or a larger window have squeezed docks.
  void put_back(const DockPlaces& places);
  /// Shows docks that were hidden for lack of space, as before a layout is stored.
  void restore_sides();
  /// While `still`, no docks are hidden or shown automatically. Returns the former value.
  bool hold_still(bool still);

  [[nodiscard]] PanelSettings settings() const;
  void restore_settings(const PanelSettings& settings);
  /// True if every visible panel shows the session's present state.
  [[nodiscard]] bool settled() const;

 signals:
  void command_wanted(const QString& id);
  void panel_wanted(const QString& name);
  void manual_wanted(const QString& page);
  void enlarge_wanted(QDockWidget* dock);  ///< the title of the dock was double-clicked
  /// Requests the export of a panel's figure, as FigurePanel::export_wanted.
  void export_wanted(const std::string& recipe, const ParameterValues& settings,
                     const std::vector<std::size_t>& subjects);
  void rename_wanted(const QString& subject);
  void place_wanted();                   ///< anything enlarged is to be restored
  void content_changed();                ///< has_content() may have changed
  void closed(const std::string& name);  ///< the user is closing the dock

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Default widths of the left and the right side, in pixels.
  [[nodiscard]] std::array<int, 2> usual_widths() const;
  void set_side_widths(const std::array<int, 2>& widths);
  /// The first dock at a place; every place has one.
  [[nodiscard]] QDockWidget* first_at(PanelPlace place) const;

  /// The panel of the dock, created on first use.
  DockPanel& made(PanelDock& one);
  void bring_to_front(PanelDock& one);
  /// Leaves out the titles that tabs show, too.
  void name_by_tabs();
  /// Shows a dock behind the one that is in front at its place.
  void show_behind(QDockWidget& dock);
  [[nodiscard]] bool side_is_open(const PanelDock& of) const;

  QMainWindow& window_;
  const PanelContext context_;
  std::vector<PanelDock> docks_;
  SideLayout* side_layout_ = nullptr;
  QTimer content_;  // merges the reasons to look for content
  SubjectId selected_ = SubjectId::none;
  std::array<int, 2> side_widths_{};                 // last widths set by the program
  std::array<std::vector<QDockWidget*>, 2> closed_;  // docks closed by toggle, at either side
};

}  // namespace attnscope
