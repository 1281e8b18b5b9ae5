// What a reading child answers, as bytes: numbers of 8 bytes, texts behind their lengths.
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

/// Throw Error(damaged) where the answer ends too early.
inline std::uint64_t take_number(ByteCursor& answer) { return answer.little<std::uint64_t>(); }

inline std::string take_text(ByteCursor& answer) {
  return std::string(answer.text(take_number(answer)));
}

}  // namespace attnscope
