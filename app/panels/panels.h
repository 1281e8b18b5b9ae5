// The list of panels. A new one is a folder here and a line in panels.cpp; the window places them,
// lists them in its View menu and asks them whether they are done.
#pragma once

#include <span>

class QString;

namespace attnscope {

class DockPanel;
class Session;
class SpectrumStore;

/// Where a panel opens first: two on the left, three on the right, and `beside`, a column for what
/// is read or worked through beside the atlases. The panels of one place lie behind tabs, the first
/// of the list in front.
enum class PanelPlace { models, inputs, spectrum, map, numbers, beside };

struct PanelEntry {
  const char* name;  ///< its dock's object name: layouts are remembered by it
  PanelPlace place;
  DockPanel* (*make)(Session& session, SpectrumStore& spectra);
  bool open = true;  ///< from the start, or only once asked for
};

[[nodiscard]] std::span<const PanelEntry> panels();

}  // namespace attnscope
