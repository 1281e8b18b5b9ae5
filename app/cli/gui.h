// Opening the window, for `attnscope gui` and for `attnscope` alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnscope {

struct GuiOptions {
  std::vector<std::string> models;   ///< as model_arguments.h, none with an input of its own
  std::string input;                 ///< a locator; none if empty
  std::filesystem::path session;     ///< restored first; none if empty
  std::filesystem::path screenshot;  ///< written once everything stands, then the window closes
  int width = 1600, height = 1000;   ///< logical pixels
  std::vector<std::string> panels;   ///< brought to the front
  std::filesystem::path lesson;      ///< a teacher's own; none if empty
  std::string theme;                 ///< "dark", "light"; as last time if empty
  bool samples_if_empty = false;     ///< the first minute: both sample models on a sample image
};

/// Runs the window; returns the exit status. Throws Error(io) where there is no display, or if the
/// screenshot cannot be written.
int run_gui(const GuiOptions& options);

}  // namespace attnscope
