// The whole command line: all subcommands with their options, parsing, running and error reports.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "app/cli/subcommand.h"

namespace attnscope {

/// The parser and its commands, from which help, completion and man page are also written.
struct Program {
  struct Command {
    CLI::App* app;
    Action action;
  };
  std::unique_ptr<CLI::App> app;
  std::vector<Command> commands;
};

[[nodiscard]] Program make_program();

/// Runs `attnscope ARGUMENTS` and returns the exit status. 0: done; 1: the command failed or its
/// output was incomplete; 2: wrong usage. Each error is one line on stderr.
int run_command_line(int argc, char** argv);

}  // namespace attnscope
