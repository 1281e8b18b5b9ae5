// The tables of activation and path patching.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/intervention/patching.h"
#include "analysis/report/report.h"

namespace attnscope {

/// One row per place: layer, head or position with its tokens, logit difference and effect.
[[nodiscard]] Report patched_places_report(const PatchTable& table);

/// The table for text: layer × head, or token × layer. Its numbers are the effects, or with `raw`
/// the logit differences.
[[nodiscard]] Report patched_parts_report(const PatchTable& table, bool raw);

/// Lines above the tables: what is patched, and the logit differences without a change.
[[nodiscard]] std::string patching_in_words(const Patching& patching);
/// A line above patched_parts_report that says what its numbers are.
[[nodiscard]] std::string patch_numbers_in_words(bool raw);

/// One row: the number of places, their logit difference patched together, and its effect.
[[nodiscard]] Report joint_patch_report(const Patching& patching, double difference);
/// "all 12 places together: logit difference 1.3, effect 0.8".
[[nodiscard]] std::string joint_patch_in_words(const Patching& patching, double difference);

/// Everything but the places: answers, differences and tokens.
[[nodiscard]] nlohmann::ordered_json patching_as_json(const Patching& patching);

}  // namespace attnscope
