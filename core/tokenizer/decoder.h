// The text of each token for display: the last stage of a tokenizer, applied per token.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope {

/// Maps a token of the vocabulary to the bytes it stands for. Unlike in decoding of whole texts,
/// continued words keep their ##, and no spaces are stripped.
using TokenText = std::function<std::string(std::string)>;

/// Makes the "decoder" of a tokenizer.json; null leaves tokens unchanged. Throws Error(unsupported)
/// naming the unsupported part, Error(damaged).
[[nodiscard]] TokenText make_decoder(const nlohmann::json& object,
                                     const std::string& place = "decoder");

}  // namespace attnscope
