// Reader of untrusted MessagePack: the tree of a file's values, with byte arrays left in place.
// Format: github.com/msgpack/msgpack, spec.md. No library is used because the existing ones copy
// every array into their own values or need Boost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct MsgpackMember;

struct MsgpackValue {
  enum class Kind { nil, boolean, integer, real, text, binary, list, map, extension };

  Kind kind = Kind::nil;
  std::int64_t integer = 0;  ///< also the value of a boolean and the type of an extension
  double real = 0;
  std::span<const std::byte> bytes;  ///< content of text, binary and extension, in place
  /// Members of lists and maps. Those of a list are named "0", "1", …
  std::vector<MsgpackMember> members;

  [[nodiscard]] const MsgpackValue* find(std::string_view name) const;
};
using MsgpackKind = MsgpackValue::Kind;

struct MsgpackMember {
  std::string name;
  MsgpackValue value;
};

/// Reads `bytes` as a single value. Throws Error(damaged) if it is truncated or followed by further
/// bytes, nested more than 32 deep, has more than a million values, or has keys that are duplicate
/// or not text.
[[nodiscard]] MsgpackValue read_msgpack(std::span<const std::byte> bytes);

}  // namespace attnscope
