// The fourth stage of a tokenizer: tokens added around a text or a pair of texts.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/tokenizer/encoding.h"

namespace attnscope {

/// Maps the tokens of one text, or of two (types 0 and 1), to the tokens of the input.
using PostProcessor = std::function<std::vector<Encoding>(std::vector<Encoding>)>;

/// Makes the "post_processor" of a tokenizer.json; null adds nothing. Throws Error(unsupported)
/// naming the unsupported part, Error(damaged).
[[nodiscard]] PostProcessor make_post_processor(const nlohmann::json& object,
                                                const std::string& place = "post_processor");

/// BERT's format: [CLS] a [SEP], and [CLS] a [SEP] b [SEP] with type 1 from b on.
[[nodiscard]] PostProcessor bert_processor(std::int64_t cls, std::int64_t sep);
/// RoBERTa's format: <s> a </s>, and <s> a </s></s> b </s>, all of type 0.
[[nodiscard]] PostProcessor roberta_processor(std::int64_t cls, std::int64_t sep);
/// The format `before` a `after` b `after`, with type 1 for b. If `between_too`, `before` also
/// precedes b.
[[nodiscard]] PostProcessor around(const std::vector<std::int64_t>& before,
                                   const std::vector<std::int64_t>& after, bool between_too);

}  // namespace attnscope
