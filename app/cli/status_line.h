// How certain a model is and what its file does not specify, in one line next to each result.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

/// "unconfirmed: assumed for vit.pt, which does not say: heads=3, activation=gelu; of little
/// weight: norm_eps=1e-06 (attnscope inspect vit.pt says why)", or the result of the comparison
/// with a reference next to the file. Empty for a known model without assumptions. Long values are
/// left out: stages=….
[[nodiscard]] std::string status_line(const Model& model);
/// The line for a trace from its recorded status: "unconfirmed: assumed when vit was recorded:
/// heads=3".
[[nodiscard]] std::string status_line(const Trace& trace);

/// The line of the subject's model, or of its trace if it has no model.
[[nodiscard]] std::string status_line(const Subject& subject);

/// The lines of all subjects without repetition, each of a model or of a trace without a model.
[[nodiscard]] std::vector<std::string> status_lines(const std::vector<Subject>& subjects);

/// Prints the status lines to `stream`.
void print_status(std::FILE* stream, const std::vector<Subject>& subjects);
/// Prints the model's status line after `before`; nothing if it is empty.
void print_status(std::FILE* stream, const Model& model, const char* before = "");

/// {"state", "assumed", "of_little_weight", "reference"}, with the names of options in the order of
/// their influence.
[[nodiscard]] nlohmann::ordered_json status_as_json(const ModelStatus& status);

/// JSON of assumptions: [{"option", "value", "reason", "stated"}].
[[nodiscard]] nlohmann::ordered_json assumptions_as_json(
    const std::vector<Assumption>& assumptions);

}  // namespace attnscope
