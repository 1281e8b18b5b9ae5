// Decompression of untrusted deflate data with a size limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attnscope {

/// Container of a deflate stream: none (zip), or a gzip header with a checksum.
enum class DeflateWrapping { raw, gzip };

struct Inflated {
  std::vector<std::byte> bytes;
  /// The stream ended within `at_most` bytes (gzip: and its checksum is correct).
  bool complete = false;
};

/// Decodes the first `at_most` bytes of `packed`. Memory grows with the decoded bytes, not with a
/// claimed size. Throws Error(damaged) for invalid or truncated streams.
[[nodiscard]] Inflated inflate(std::span<const std::byte> packed, DeflateWrapping wrapping,
                               std::uint64_t at_most);

/// True if `packed` bytes that claim to unpack to `unpacked` bytes must be refused: the ratio
/// exceeds deflate's maximum (1 : 1032), or 1 : 100, which no weights reach, at more than 256 MiB.
[[nodiscard]] bool is_bomb(std::uint64_t packed, std::uint64_t unpacked);

}  // namespace attnscope
