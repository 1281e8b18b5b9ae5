// What a tokenizer makes of a text, or of a pair of texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnscope {

/// Bytes [begin, end) of the text as it was given; empty for a token that stands for no part of it.
struct TokenPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend bool operator==(const TokenPlace&, const TokenPlace&) = default;
};

/// One entry a token in each list.
struct Encoding {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> types;   ///< of segments: 0, or 1 in most second texts
  std::vector<TokenPlace> places;    ///< in the text that the token is from
  std::vector<std::int8_t> sources;  ///< 0 first text, 1 second, -1 put in by the tokenizer

  void add(std::int64_t id, std::int64_t type, TokenPlace place, std::int8_t source) {
    ids.push_back(id);
    types.push_back(type);
    places.push_back(place);
    sources.push_back(source);
  }
};

}  // namespace attnscope
