// The list of subcommands: one file per subcommand in app/cli, one line each in subcommands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>

namespace attnscope {

/// Runs a subcommand after its arguments are parsed and returns the exit status. Errors are thrown:
/// main catches them, prints one line on stderr, and returns 1 (2 for wrong usage).
using Action = std::function<int()>;

struct Subcommand {
  /// Heading of --help and of the manual page; subcommands with the same heading follow each other.
  const char* group;
  /// Adds the subcommand with its options to `parent`. The returned action runs if the user gave
  /// the subcommand.
  Action (*add)(CLI::App& parent, CLI::App*& added);
};

[[nodiscard]] std::span<const Subcommand> subcommands();

/// Runs `attnscope` without a subcommand: the first minute of the window.
int run_default_subcommand(int argc, char** argv);

}  // namespace attnscope
