// The first stage of a tokenizer: what is done to the characters.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/tokenizer/aligned_text.h"

namespace attnscope {

using Normalizer = std::function<AlignedText(const AlignedText&)>;

/// "normalizer" of a tokenizer.json; null does nothing. Throws Error(unsupported) naming what is
/// not implemented, Error(damaged).
[[nodiscard]] Normalizer make_normalizer(const nlohmann::json& object,
                                         const std::string& place = "normalizer");

struct BertNormalization {
  bool clean = true;          ///< without control characters; white space is a space
  bool space_chinese = true;  ///< spaces around CJK ideographs
  bool strip_accents = true;  ///< NFD without marks
  bool lowercase = true;
};
[[nodiscard]] Normalizer bert_normalizer(const BertNormalization& settings);

}  // namespace attnscope
