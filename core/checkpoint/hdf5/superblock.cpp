#include "core/checkpoint/hdf5/superblock.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

/// Offset of the signature: 0, or after a user block of 512, 1024, 2048 … bytes.
std::optional<std::size_t> superblock_start(std::span<const std::byte> bytes) {
  for (std::size_t start = 0; start + 8 <= bytes.size(); start = start == 0 ? 512 : start * 2) {
    if (std::memcmp(bytes.data() + start, signature, 8) == 0) return start;
  }
  return std::nullopt;
}

std::uint64_t read_u64(std::span<const std::byte> bytes, std::size_t at) {
  if (bytes.size() < 8 || at > bytes.size() - 8) {
    throw Error(ErrorKind::damaged, "the file ends inside its superblock");
  }
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, 8);
  return number;
}

}  // namespace

void check_superblock(std::span<const std::byte> bytes) {
  const std::optional<std::size_t> start = superblock_start(bytes);
  if (!start) {
    throw Error(ErrorKind::not_this_format, "is not an HDF5 file");
  }
  bytes = bytes.subspan(*start);
  (void)read_u64(bytes, 8);
  const auto byte_at = [&](std::size_t at) { return std::to_integer<unsigned>(bytes[at]); };
  const unsigned version = byte_at(8);
  const bool old = version <= 1;
  if (version > 3) {
    throw Error(ErrorKind::unsupported, "the HDF5 superblock's version is unknown")
        .expected("0 to 3")
        .found(std::to_string(version));
  }
  if (byte_at(old ? 13 : 9) != 8 || byte_at(old ? 14 : 10) != 8) {
    throw Error(ErrorKind::unsupported, "addresses or lengths are not 8 bytes wide");
  }
  const std::size_t base = version == 0 ? 24 : version == 1 ? 28 : 12;
  const std::uint64_t end = read_u64(bytes, base + 16);
  const std::uint64_t base_address = read_u64(bytes, base);
  if (base_address != 0 && base_address != *start) {
    throw Error(ErrorKind::damaged, "the superblock's base address is impossible");
  }
  // Some writers store the end relative to the base address, others relative to the file's start.
  if (end > bytes.size() + *start) {
    throw Error(ErrorKind::damaged, "the file is truncated")
        .expected(std::to_string(end) + " bytes")
        .found(std::to_string(bytes.size() + *start))
        .remedy("fetch it again");
  }
  constexpr std::uint64_t undefined = ~std::uint64_t{0};
  if (old && read_u64(bytes, base + 24) != undefined) {
    throw Error(ErrorKind::unsupported, "the file needs a multi-file HDF5 driver");
  }
}

std::span<const std::byte> from_superblock(std::span<const std::byte> bytes) {
  return bytes.subspan(superblock_start(bytes).value_or(0));
}

}  // namespace attnscope
