#include "core/architecture/configuration/tokenizer_file.h"

#include <string_view>
#include <system_error>
#include <utility>

namespace attnscope {

TokenizerFile find_tokenizer_file(const std::filesystem::path& folder) {
  using Kind = TokenizerFile::Kind;
  constexpr std::pair<std::string_view, Kind> names[] = {
      {"tokenizer.json", Kind::tokenizer_json},
      {"vocab.txt", Kind::word_pieces},
      {"vocab.json", Kind::byte_pairs},
      {"tokenizer.model", Kind::sentence_piece},
      {"spiece.model", Kind::sentence_piece},
      {"spm.model", Kind::sentence_piece},
      {"sentencepiece.bpe.model", Kind::sentence_piece},
  };
  const auto there = [&](std::string_view name) {
    std::error_code ignored;
    return std::filesystem::exists(folder / name, ignored);
  };
  for (const auto& [name, kind] : names) {
    if (!there(name) || (kind == Kind::byte_pairs && !there("merges.txt"))) continue;
    return {kind, folder / name};
  }
  return {};
}

}  // namespace attnscope
