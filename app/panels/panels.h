// The list of panels. A new panel needs a folder here and a line in panels.cpp: the window then
// places it, lists it in its menus, keeps its settings and waits for it; --panel and the tests find
// it in the list, too.
#pragma once

#include <span>

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

/// Initial position of a panel: three on the left, three on the right, and `beside`, a column next
/// to the atlases for panels that are read or worked through, closed at the start. Panels at one
/// position are tabs, with the first of the list in front.
enum class PanelPlace { models, inputs, answer, spectrum, map, numbers, beside };

struct PanelEntry {
  const char* name;  ///< object name of its dock, the key in layouts and sessions
  PanelPlace place;
  DockPanel* (*make)(const PanelContext& context);  ///< called when it is first seen
  const char* title;
  bool presented = false;  ///< stays open in presentation mode if it is open
  bool in_help = false;    ///< also listed in the Help menu
  const char* key = "";    ///< shortcut such as "F2"; only for panels in the Help menu
};

[[nodiscard]] std::span<const PanelEntry> panels();

}  // namespace attnscope
