// How sure a model is, and what its file does not say, in one line beside each result.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

/// "unconfirmed: assumed for vit.pt, which does not say: heads=3, activation=gelu; of little
/// weight: norm_eps=1e-06 (attnscope inspect vit.pt says why)", or what a reference beside it says;
/// empty of a known model of which nothing was assumed. Long values are left out: stages=….
[[nodiscard]] std::string status_line(const Model& model);
/// As the trace's file keeps it: "unconfirmed: assumed when vit was recorded: heads=3".
[[nodiscard]] std::string status_line(const Trace& trace);

/// Of its model, or of a trace without one.
[[nodiscard]] std::string status_line(const Subject& subject);

/// The line of each model, or of a trace without one, once.
[[nodiscard]] std::vector<std::string> status_lines(const std::vector<Subject>& subjects);

/// Those on `stream`.
void print_status(std::FILE* stream, const std::vector<Subject>& subjects);

/// {"state", "assumed", "of_little_weight", "reference"}: names of options, worst first.
[[nodiscard]] nlohmann::ordered_json status_as_json(const ModelStatus& status);

/// [{"option", "value", "reason", "stated"}].
[[nodiscard]] nlohmann::ordered_json assumptions_as_json(
    const std::vector<Assumption>& assumptions);

}  // namespace attnscope
