#include "app/cli/analysed_argument.h"

#include <algorithm>

#include "analysis/matrix/analysed_matrix.h"
#include "app/cli/command_table.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr std::string_view kBoth = "both";

std::vector<std::string> choices() {
  std::vector<std::string> names = names_of(identity_view_names);
  names.emplace_back(kBoth);
  return names;
}

}  // namespace

void add_analysed_options(CLI::App& command, AnalysedArgument& argument) {
  add_value_option(command, "--of", argument.of,
                   "Analysed matrix: " + name_list(names_of(matrix_kind_names)) +
                       " (described in docs/analyses.md)",
                   "WHAT");
  add_value_option(command, "--added", argument.added,
                   "Further terms of the layer in the matrix, besides the I of --identity: the "
                   "residual stream in outputs, x + A V W_O; DAFT-conv's maps without the "
                   "convolution's Toeplitz map, or only that map",
                   name_list(names_of(added_names), {}, "|"));
  command.add_flag("--centred", argument.centred, "Subtract the mean row: X - 1 x̄ᵀ");
}

MatrixChoice analysed_of(const AnalysedArgument& argument) {
  return {matrix_kind_named(argument.of), argument.centred,
          value_of(added_names, argument.added, "addition of layers")};
}

void request_analysed(const MatrixChoice& analysed, TraceRequest& request) {
  request_for(analysed, request);
  // Matrices that depend on the previous layer need every layer recorded (empty list: all layers).
  if (needs_layer_before(analysed)) request.layers.clear();
}

void add_analysed(nlohmann::ordered_json& json, const MatrixChoice& analysed) {
  json["of"] = name_of(matrix_kind_names, analysed.of);
  json["centred"] = analysed.centred;
  json["added"] = name_of(added_names, analysed.added);
}

void add_threshold_options(CLI::App& command, RankThreshold& threshold) {
  add_value_option(command, "--threshold", threshold.level,
                   "Threshold of the equivalent rank, above 0, at most 1", "T");
  add_share_option(command, threshold.of);
}

void add_share_option(CLI::App& command, RankShare& share) {
  command
      .add_option_function<std::string>(
          "--share",
          [&share](const std::string& name) {
            share = value_of(rank_share_names, name, "share of the threshold");
          },
          "What the threshold is a share of: the sum of the singular values (values), or of their "
          "squares (energy)")
      ->type_name(name_list(names_of(rank_share_names), {}, "|"))
      ->default_str(std::string(name_of(rank_share_names, share)));
}

void add_threshold(nlohmann::ordered_json& json, const RankThreshold& threshold) {
  json["threshold"] = threshold.level;
  json["share"] = name_of(rank_share_names, threshold.of);
}

void add_entropy_option(CLI::App& command, std::optional<double>& target) {
  command
      .add_option("--at-entropy", target,
                  "Also report each rank at the temperature at which the mean row entropy is this "
                  "share of ln n, above 0, below 1")
      ->type_name("H");
}

void add_identity_option(CLI::App& command, std::string& name) {
  add_value_option(command, "--identity", name,
                   "View of the identity mapping: the maps as they are, without their I, with I "
                   "added if they have none (Adder, Eq. 20), or both next to each other",
                   identity_words());
}

std::string identity_words() { return name_list(choices(), {}, "|"); }

std::vector<IdentityView> identity_views(const std::string& name) {
  if (name == kBoth) return {IdentityView::without, IdentityView::with};
  const std::vector<std::string> names = choices();
  if (std::ranges::find(names, name) == names.end()) {
    throw unknown_name("view of the identity mapping", name, name_list(names));
  }
  return {value_of(identity_view_names, name, "view of the identity mapping")};
}

}  // namespace attnscope
