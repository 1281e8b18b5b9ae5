// Opens the window, for `attnscope gui` and for `attnscope` without a subcommand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope {

struct GuiOptions {
  std::vector<std::string> models;   ///< MODEL arguments without an input of their own
  std::string input;                 ///< a locator; empty: no input
  std::filesystem::path session;     ///< restored first; empty: no session
  std::filesystem::path screenshot;  ///< written once the window has settled, which then closes
  int width = 1600, height = 1000;   ///< logical pixels
  std::vector<std::string> panels;   ///< names of the panels brought to the front
  std::filesystem::path lesson;      ///< a lesson file (Markdown); empty: none
  std::string theme;                 ///< "dark" or "light"; empty: as in the last run
  bool samples_if_empty = false;     ///< opens the first minute unless the last session is reopened
};

/// Runs the window and returns the exit status. Throws Error(io) without a display, or if the
/// screenshot cannot be written.
int run_gui(const GuiOptions& options);

}  // namespace attnscope
