// Runs the program from a shell.
#pragma once

#include <string>

namespace attnscope {

struct ProgramRun {
  int status = -1;
  std::string output;  ///< stdout
  std::string errors;  ///< stderr
};

/// Runs `attnscope ARGUMENTS` in a shell, without a display.
[[nodiscard]] ProgramRun run_program(const std::string& arguments);

}  // namespace attnscope
