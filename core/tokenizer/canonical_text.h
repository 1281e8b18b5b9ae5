// Cleaning of whole texts before tokenizers of CLIP-like models.
#pragma once

#include <filesystem>
#include <string>

#include "core/tokenizer/stages.h"

namespace attnscope {

/// Steps of cleaning. Per character: `spaces`, `plain_quotes`, `without_punctuation`, `lower_case`.
/// Then `prefix` is added, runs of white space become single spaces, and white space at both ends
/// is removed.
struct TextCleaning {
  std::string spaces;                ///< characters that become spaces
  bool plain_quotes = false;         ///< ‘ ’ “ ” and similar quotes become ' and " (ftfy)
  bool lower_case = false;           ///< lower case, per character
  std::string prefix;                ///< text put before the first part of a text
  bool without_punctuation = false;  ///< ASCII punctuation (Python's string.punctuation) is removed
};
[[nodiscard]] Normalizer clean_text(const TextCleaning& settings);

/// Cleaning of SigLIP in transformers (SiglipTokenizer), applied to each part between special
/// tokens.
[[nodiscard]] Normalizer siglip_text(bool lower_case);

/// Cleaning specified by open_clip_config.json in `folder`: `tokenizer_kwargs` of the text tower,
/// or SigLIP's default; null if there is none. Of ftfy's repairs only the quotes are implemented,
/// and HTML entities are kept. Throws Error(unsupported) naming an unknown key.
[[nodiscard]] Normalizer read_open_clip_cleaning(const std::filesystem::path& folder);

}  // namespace attnscope
