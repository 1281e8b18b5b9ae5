// Checks of an HDF5 file's superblock, read from its bytes.
#pragma once

#include <cstddef>
#include <span>

namespace attnscope {

/// Checks fields that the HDF5 library trusts, or whose errors it reports unclearly: the size of
/// addresses, the end of the file, and a driver block (which could open further files). Throws
/// Error(not_this_format) without HDF5's signature, Error(damaged) for a truncated file or an
/// impossible superblock, Error(unsupported).
void check_superblock(std::span<const std::byte> file);

/// The file's bytes from the superblock on; addresses in the file are relative to it.
[[nodiscard]] std::span<const std::byte> from_superblock(std::span<const std::byte> file);

}  // namespace attnscope
