// The list of panels. A new one is a folder here and a line in panels.cpp: the window places it,
// lists it in its menus, keeps its settings and asks it whether it is done; --panel and the tests
// find it there, too.
#pragma once

#include <span>

class QMenu;

namespace attnscope {

class AtlasLink;
class ComparisonStore;
class DockPanel;
class Session;
class SpectrumStore;

/// What panels work with. Each is given of it what it needs.
struct PanelContext {
  Session& session;
  SpectrumStore& spectra;
  ComparisonStore& comparisons;
  AtlasLink& atlases;
  QMenu& recent_files;
};

/// Where a panel opens first: three on the left, three on the right, and `beside`, a column for
/// what is read or worked through beside the atlases, closed at the start. The panels of one place
/// lie behind tabs, the first of the list in front.
enum class PanelPlace { models, inputs, answer, spectrum, map, numbers, beside };

struct PanelEntry {
  const char* name;  ///< its dock's object name: layouts and sessions remember it by this
  PanelPlace place;
  DockPanel* (*make)(const PanelContext& context);  ///< called when it is first seen
  const char* title;
  bool presented = false;  ///< stays open in a presentation, if it is
  bool in_help = false;    ///< listed in the Help menu, too
  const char* key = "";    ///< opens it: "F2"; only for those in the Help menu
};

[[nodiscard]] std::span<const PanelEntry> panels();

}  // namespace attnscope
