// The first stage of a tokenizer: normalisation of characters.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/tokenizer/aligned_text.h"

namespace attnscope {

using Normalizer = std::function<AlignedText(const AlignedText&)>;

/// Makes the "normalizer" of a tokenizer.json; null leaves texts unchanged. Throws
/// Error(unsupported) naming the unsupported part, Error(damaged).
[[nodiscard]] Normalizer make_normalizer(const nlohmann::json& object,
                                         const std::string& place = "normalizer");

struct BertNormalization {
  bool clean = true;          ///< removes control characters; white space becomes spaces
  bool space_chinese = true;  ///< spaces around CJK ideographs
  bool strip_accents = true;  ///< NFD without marks
  bool lowercase = true;
};
[[nodiscard]] Normalizer bert_normalizer(const BertNormalization& settings);

}  // namespace attnscope
