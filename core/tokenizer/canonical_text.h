// What is done to whole texts before a tokenizer of CLIP's kin sees them.
#pragma once

#include <filesystem>
#include <string>

#include "core/tokenizer/normalizer.h"

namespace attnscope {

/// White space becomes single spaces, and goes at both ends; before that, in this order:
struct TextCleaning {
  std::string spaces;                ///< characters that become spaces
  bool plain_quotes = false;         ///< ‘ ’ “ ” and their kin become ' and " (ftfy)
  bool lower_case = false;           ///< each character by itself
  std::string prefix;                ///< before a part that begins the text
  bool without_punctuation = false;  ///< ASCII's goes, as Python's string.punctuation
};
[[nodiscard]] Normalizer clean_text(const TextCleaning& settings);

/// SigLIP's texts in transformers (SiglipTokenizer): each part between special tokens by itself.
[[nodiscard]] Normalizer siglip_text(bool lower_case);

/// What open_clip_config.json in `folder` has done to texts before the tokenizer:
/// `tokenizer_kwargs` of its text tower, SigLIP's in any case; null where it has none of it. Of
/// ftfy's repairs the quotes alone are made, and HTML's entities stay. Throws Error(unsupported)
/// naming a key that is not known.
[[nodiscard]] Normalizer read_open_clip_cleaning(const std::filesystem::path& folder);

}  // namespace attnscope
