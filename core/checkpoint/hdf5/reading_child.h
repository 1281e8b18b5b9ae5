// Runs a reader that damaged files may crash or hang in a child process with limits, so the program
// gets an error instead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/checkpoint/byte_cursor.h"
#include "core/platform/limited_child.h"

namespace attnscope {

/// Runs `read()` in a child process and returns its result. The child starts while no thread is
/// inside the HDF5 library. `read` may only call that library and our own code that takes no locks.
/// Its writes to memory are lost, except to SharedBytes. Throws the Error that `read` throws;
/// Error(damaged) if the child crashed, reached a limit or ended early (memory is not limited under
/// address and thread sanitizers); Error(io) if the process cannot be started.
[[nodiscard]] std::string read_in_child(const std::function<std::string()>& read,
                                        const ChildLimits& limits = {});

/// An answer holds numbers of 8 bytes, and texts preceded by their lengths.
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
