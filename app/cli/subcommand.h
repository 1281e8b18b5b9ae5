// The list of subcommands: one file each in app/cli, one line each in subcommands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>

namespace attnscope {

/// What a subcommand does once its arguments are parsed; returns the exit status. Errors are
/// thrown: main catches them, prints one line on stderr, and returns 1 (2 for wrong usage).
using Action = std::function<int()>;

struct Subcommand {
  /// Adds itself with its options to `parent`; the returned action runs if it was given.
  Action (*add)(CLI::App& parent, CLI::App*& added);
};

[[nodiscard]] std::span<const Subcommand> subcommands();

/// What `attnscope` does without a subcommand: the first minute of the window.
int run_default_subcommand(int argc, char** argv);

}  // namespace attnscope
