// The fourth stage of a tokenizer: the tokens it puts around a text, or a pair of texts.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/tokenizer/encoding.h"

namespace attnscope {

/// From the tokens of one text, or of two (types 0 and 1), to those of the input.
using PostProcessor = std::function<std::vector<Encoding>(std::vector<Encoding>)>;

/// "post_processor" of a tokenizer.json; null adds nothing. Throws Error(unsupported) naming what
/// is not implemented, Error(damaged).
[[nodiscard]] PostProcessor make_post_processor(const nlohmann::json& object,
                                                const std::string& place = "post_processor");

/// [CLS] a [SEP], and [CLS] a [SEP] b [SEP] with type 1 from b on.
[[nodiscard]] PostProcessor bert_processor(std::int64_t cls, std::int64_t sep);
/// <s> a </s>, and <s> a </s></s> b </s>, of one type.
[[nodiscard]] PostProcessor roberta_processor(std::int64_t cls, std::int64_t sep);
/// `before` a `after` b `after`, b of type 1; `between_too`: `before` stands before b too.
[[nodiscard]] PostProcessor around(const std::vector<std::int64_t>& before,
                                   const std::vector<std::int64_t>& after, bool between_too);

}  // namespace attnscope
