// --of, --added and --centred: what of a run is analysed, the same words in every command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "analysis/analysed/what.h"
#include "core/trace/trace.h"

namespace attnscope {

struct AnalysedArgument {
  std::string of = "map", added = "none";
  bool centred = false;
};

void add_analysed_options(CLI::App& command, AnalysedArgument& argument);

/// Throws Error(usage), listing the names, for one there is not.
[[nodiscard]] Analysed analysed_of(const AnalysedArgument& argument);

/// Adds to `request` what is needed of a run, all its layers where each needs the one before it.
void request_analysed(const Analysed& analysed, TraceRequest& request);

}  // namespace attnscope
