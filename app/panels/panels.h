// The list of panels. A new panel needs a folder here and a line in panels.cpp: the window then
// places it, lists it in the menu of its group, keeps its settings and waits for it; --panel and
// the tests find it in the list, too.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

class QMenu;

namespace attnscope {

class AtlasLink;
class ComparisonStore;
class DockPanel;
class Session;
class SpectrumStore;

/// Objects that panels work with; each panel gets those that it needs.
struct PanelContext {
  Session& session;
  SpectrumStore& spectra;
  ComparisonStore& comparisons;
  AtlasLink& atlases;
  QMenu& recent_files;
};

/// The question that a panel answers. It decides which menu lists the panel: View → Panels, or a
/// menu of its own for experiments and for what teaches; these are closed at the start.
enum class PanelGroup { model, this_map, all_maps, mechanism, experiments, learn };

/// Initial position of a panel: three on the left, three on the right, and `beside`, a column next
/// to the atlases for panels that are read or worked through, closed at the start. Panels at one
/// position are tabs, with the first of the list in front.
enum class PanelPlace { models, inputs, answer, spectrum, map, numbers, beside };

/// A part of a panel that has a name of its own, under which it is found and brought to the front.
struct PanelPage {
  const char* name;
  const char* title;
  bool in_menu = false;  ///< listed below its panel; the command palette lists every page
  /// Like that of the panel, if it is not null.
  bool (*has_content)(const Session& session) = nullptr;
};

struct PanelEntry {
  const char* name;  ///< object name of its dock, the key in layouts and sessions
  PanelGroup group;
  PanelPlace place;
  DockPanel* (*make)(const PanelContext& context);  ///< called when it is first seen
  const char* title;
  std::span<const PanelPage> pages = {};  ///< names that DockPanel::show_page knows
  bool presented = false;                 ///< stays open in presentation mode if it is open
  const char* key = "";                   ///< shortcut such as "F2"
  /// False while nothing that is open has anything for the panel; its dock is then not there. Null
  /// if that never happens.
  bool (*has_content)(const Session& session) = nullptr;

  /// True if `called` is the name of the panel or of one of its pages.
  [[nodiscard]] bool has(std::string_view called) const {
    return called == name || std::ranges::find(pages, called, &PanelPage::name) != pages.end();
  }
  /// True if its dock is open in a new window.
  [[nodiscard]] bool opens() const {
    return place != PanelPlace::beside && group != PanelGroup::experiments &&
           group != PanelGroup::learn;
  }
};

[[nodiscard]] std::span<const PanelEntry> panels();
/// Every name that brings a panel to the front: those of panels, each followed by its pages.
[[nodiscard]] std::vector<std::string> panel_names();

}  // namespace attnscope
