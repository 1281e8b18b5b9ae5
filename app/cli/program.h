// The command line as a whole: every subcommand with its options, parsed, run, and its errors
// turned into one line.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "app/cli/subcommand.h"

namespace attnscope {

/// What main parses, and help, completion and man page are written from.
struct Program {
  struct Command {
    CLI::App* app;
    Action action;
  };
  std::unique_ptr<CLI::App> app;
  std::vector<Command> commands;
};

[[nodiscard]] Program make_program();

/// `attnscope ARGUMENTS`: returns the exit status. 0: done; 1: it could not be done, or not all of
/// the output was written; 2: wrong usage. Errors are one line on stderr.
int run_command_line(int argc, char** argv);

}  // namespace attnscope
