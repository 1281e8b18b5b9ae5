// Serialised answer of a reading child: numbers of 8 bytes, texts preceded by their lengths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/checkpoint/byte_cursor.h"

namespace attnscope {

inline void put_number(std::string& answer, std::uint64_t number) {
  answer.append(reinterpret_cast<const char*>(&number), sizeof number);
}

inline void put_text(std::string& answer, std::string_view text) {
  put_number(answer, text.size());
  answer += text;
}

/// Both take_… functions throw Error(damaged) if the answer is truncated.
inline std::uint64_t take_number(ByteCursor& answer) { return answer.little<std::uint64_t>(); }

inline std::string take_text(ByteCursor& answer) {
  return std::string(answer.text(take_number(answer)));
}

}  // namespace attnscope
