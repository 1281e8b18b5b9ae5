// Result of tokenizing a text or a pair of texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnscope {

/// A byte range [begin, end) of the original text; empty for a token that stands for no part of it.
struct TokenPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const TokenPlace&, const TokenPlace&) = default;
};

/// Token ids with their properties. Each list has one entry per token.
struct Encoding {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;  ///< segment types: 0, or 1 in most second texts
  std::vector<TokenPlace> places;   ///< range in the text that the token is from
  /// 0: first text, 1: second text, -1: inserted by the tokenizer.
  std::vector<std::int8_t> sources;

  void add(std::int64_t id, std::int64_t type, TokenPlace place, std::int8_t source) {
    ids.push_back(id);
    types.push_back(type);
    places.push_back(place);
    sources.push_back(source);
  }
};

}  // namespace attnscope
