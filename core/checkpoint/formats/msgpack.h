// MessagePack from strangers: the tree of a file's values, whose arrays stay where they are.
// Format: github.com/msgpack/msgpack, spec.md. Written here because the libraries that read it copy
// every array into their own values, or need Boost.
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
  std::int64_t integer = 0;  ///< also of a boolean; the type of an extension
  double real = 0;
  std::span<const std::byte> bytes;  ///< of text, binary, extension: where they lie in the file
  /// Of lists and maps; a list's names are "0", "1", …
  std::vector<MsgpackMember> members;

  [[nodiscard]] const MsgpackValue* find(std::string_view name) const;
};

struct MsgpackMember {
  std::string name;
  MsgpackValue value;
};

/// The one value that `bytes` are. Throws Error(damaged) for anything else: cut off, bytes behind
/// it, nested more than 32 deep, more than a million values, keys that are no texts or stand twice.
[[nodiscard]] MsgpackValue read_msgpack(std::span<const std::byte> bytes);

}  // namespace attnscope
