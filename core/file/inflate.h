// Deflated data from strangers: decoded only up to a stated size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attnscope {

/// What stands around a deflate stream: nothing (zip), or a gzip header with a checksum.
enum class DeflateWrapping { raw, gzip };

struct Inflated {
  std::vector<std::byte> bytes;
  bool complete = false;  ///< the stream ended within `at_most` bytes (gzip: its checksum fits)
};

/// Decodes the first `at_most` bytes of `packed`. Memory grows with what is decoded, not with what
/// is claimed. Throws Error(damaged) for anything that is no deflate stream or is cut off.
[[nodiscard]] Inflated inflate(std::span<const std::byte> packed, DeflateWrapping wrapping,
                               std::uint64_t at_most);

/// Whether `packed` bytes that claim to unpack to `unpacked` are refused unread: more than deflate
/// can reach (1 : 1032), or more than 256 MiB at a ratio (1 : 100) that no weights have.
[[nodiscard]] bool is_bomb(std::uint64_t packed, std::uint64_t unpacked);

}  // namespace attnscope
