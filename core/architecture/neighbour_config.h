// What lies beside a Hugging Face weight file: config.json, preprocessor_config.json, byte pairs.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace attnscope {

/// Members of ModelSpec → values as text, as apply_override takes them, from the files beside
/// `weights`; empty if there are none. What they say beyond that is ignored. Throws Error(damaged)
/// if one of them is not JSON.
[[nodiscard]] std::map<std::string, std::string> neighbour_config(
    const std::filesystem::path& weights);

/// Whether GPT-2's byte pairs, vocab.json and merges.txt, lie in `folder`.
[[nodiscard]] bool has_byte_pairs(const std::filesystem::path& folder);

}  // namespace attnscope
