// What each token says, for showing: the last stage of a tokenizer, token by token.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope {

/// From a token as the vocabulary has it to the bytes it stands for. A continued word keeps its ##,
/// and spaces that decoding would strip from a whole text stay.
using TokenText = std::function<std::string(std::string)>;

/// "decoder" of a tokenizer.json; null shows tokens as they are. Throws Error(unsupported) naming
/// what is not implemented, Error(damaged).
[[nodiscard]] TokenText make_decoder(const nlohmann::json& object,
                                     const std::string& place = "decoder");

}  // namespace attnscope
