// The head of an HDF5 file, read from its bytes.
#pragma once

#include <cstddef>
#include <span>

namespace attnscope {

/// Checks what the HDF5 library trusts too much or says too unclearly: sizes of addresses, the end
/// of the file, and a driver block (which may make it open further files). Throws
/// Error(not_this_format) without HDF5's signature, Error(damaged) for a file that is cut off or
/// whose superblock is impossible, Error(unsupported).
void check_superblock(std::span<const std::byte> file);

/// The file's bytes from the superblock on, which addresses in it count from.
[[nodiscard]] std::span<const std::byte> from_superblock(std::span<const std::byte> file);

}  // namespace attnscope
