// The options --of, --added and --centred, which choose the analysed matrix in every command.
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

/// Throws Error(usage) with the list of names for an unknown name.
[[nodiscard]] Analysed analysed_of(const AnalysedArgument& argument);

/// Adds to `request` what the analysis reads of a run, and all layers if the matrix of a layer
/// depends on the previous layer.
void request_analysed(const Analysed& analysed, TraceRequest& request);

}  // namespace attnscope
