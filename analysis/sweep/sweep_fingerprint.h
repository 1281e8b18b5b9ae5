// Identifies everything that decides a sweep's result, so that only the same sweep is resumed, and
// hashes of the inputs of any long computation.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "core/attention/mechanism.h"

namespace attnscope {

/// XXH3 of the bytes of files, and of the names, sizes and times of all files inside folders.
/// Throws Error(io).
[[nodiscard]] std::string content_hash(const std::vector<std::filesystem::path>& paths);
/// Hash of a text.
[[nodiscard]] std::string content_hash(const std::string& text);
/// Hash of weights that were learned in addition to the model's.
[[nodiscard]] std::string content_hash(const std::vector<NamedTensors>& layers);

/// The part of a fingerprint that belongs to one subject, which must have its model: its label, the
/// content hash of its weight files, its mechanism with learned weights, and a hash of what the
/// model was read as (its spec and the list of what was assumed or given). Throws Error(io).
[[nodiscard]] nlohmann::json subject_fingerprint(const std::string& label, const Subject& subject);

/// The fingerprint as text: subject_fingerprint of all subjects, the content hash of the data set
/// (for class folders of the names, sizes and times of the files), views, thresholds, choice of
/// inputs, program version. Throws Error(io) for a folder that cannot be read.
[[nodiscard]] std::string sweep_fingerprint(const SweepRequest& request);

/// Names of the differences of two fingerprints: "the data set, the thresholds". Empty if equal.
[[nodiscard]] std::string fingerprint_difference(const std::string& one, const std::string& other);

}  // namespace attnscope
