// The analysed matrix and the threshold of its rank: the options --identity, --of, --added,
// --centred, --threshold and --share, and their keys in JSON, equal in every command.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/matrix/matrix_kind.h"
#include "analysis/report/report.h"
#include "analysis/spectrum/rank.h"
#include "core/trace/trace.h"

namespace attnscope {

struct AnalysedArgument {
  std::string of = "map", added = "none";
  bool centred = false;
};

void add_analysed_options(CLI::App& command, AnalysedArgument& argument);

/// Throws Error(usage) with the list of names for an unknown name.
[[nodiscard]] MatrixChoice analysed_of(const AnalysedArgument& argument);

/// Adds to `request` what the analysis reads of a run, and all layers if the matrix of a layer
/// depends on the previous layer.
void request_analysed(const MatrixChoice& analysed, TraceRequest& request);

/// Adds the keys "of", "centred" and "added".
void add_analysed(nlohmann::ordered_json& json, const MatrixChoice& analysed);

/// The options --threshold T and --share values|energy.
void add_threshold_options(CLI::App& command, RankThreshold& threshold);
void add_share_option(CLI::App& command, RankShare& share);

/// Adds the keys "threshold" and "share".
void add_threshold(nlohmann::ordered_json& json, const RankThreshold& threshold);

/// The option --at-entropy H of commands that report a rank of each map.
void add_entropy_option(CLI::App& command, std::optional<double>& target);

/// as-is: the maps of the mechanism; without: minus an I that they contain; with: plus I unless
/// they contain it; both: without and with.
void add_identity_option(CLI::App& command, std::string& name);

/// The accepted values: "as-is|without|with|both".
[[nodiscard]] std::string identity_words();

/// The views that `name` selects, in that order. Throws Error(usage) with the list of names.
[[nodiscard]] std::vector<IdentityView> identity_views(const std::string& name);

}  // namespace attnscope
