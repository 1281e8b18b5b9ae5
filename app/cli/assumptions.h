// What a model's file does not say, in one line beside each result.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/model/subject.h"

namespace attnscope {

/// "assumed for vit.pt, which does not say: heads=3, activation=gelu (attnscope inspect vit.pt says
/// why)"; empty if nothing was assumed. Long values are left out: stages=….
[[nodiscard]] std::string assumptions_in_words(const Model& model);
/// "assumed when vit was recorded: heads=3", as the trace's file keeps it; empty if nothing was.
[[nodiscard]] std::string assumptions_in_words(const Trace& trace);

/// Of its model, or of a trace without one.
[[nodiscard]] std::string assumptions_in_words(const Subject& subject);

/// The line of each model, or of a trace without one, once, on `stream`.
void print_assumptions(std::FILE* stream, const std::vector<Subject>& subjects);

/// [{"option", "value", "reason"}].
[[nodiscard]] nlohmann::ordered_json assumptions_as_json(
    const std::vector<Assumption>& assumptions);

}  // namespace attnscope
