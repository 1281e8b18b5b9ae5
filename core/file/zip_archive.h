// Reader of untrusted zip archives in mapped memory. libzip is not used because it does not report
// the offset of an entry's bytes, which is needed to map stored entries (the weights of .pt and
// .npz files) in place.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/file/mapped_file.h"

namespace attnscope {

struct ZipEntry {
  std::string name;
  bool deflated = false;
  std::uint64_t offset = 0;       ///< offset of the data in the file
  std::uint64_t packed_size = 0;  ///< bytes in the file
  std::uint64_t size = 0;         ///< unpacked bytes
  std::uint32_t checksum = 0;     ///< CRC-32 of the unpacked bytes; 0 may mean none (torch.save)
};

/// Bytes of an entry and the owner that keeps them alive.
struct ZipBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> storage;
};

/// The checked directory of an archive: entries are inside the file and do not overlap, names are
/// unique and agree with the entries' headers, and no entry is encrypted. Decompression bombs are
/// refused, also if several entries form one together.
class ZipArchive {
 public:
  /// Throws Error(damaged), or Error(unsupported) for encryption, other compression methods and
  /// archives of several parts.
  explicit ZipArchive(std::shared_ptr<const MappedFile> file);

  /// Entries in the order of the directory, without folders.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  [[nodiscard]] const ZipEntry* find(const std::string& name) const;

  /// A stored entry in place, or a deflated one unpacked. Verifies a nonzero checksum; for a stored
  /// entry only the first time, on all cores. Throws Error(damaged), or Error(io) if the file was
  /// changed in the meantime.
  [[nodiscard]] ZipBytes read(const ZipEntry& entry) const;
  /// The first `count` bytes (or all, if fewer) without verifying the checksum.
  [[nodiscard]] ZipBytes read_start(const ZipEntry& entry, std::uint64_t count) const;

 private:
  void read_directory();
  void check_stored(const ZipEntry& entry, std::span<const std::byte> bytes) const;
  static ZipBytes inflated(const ZipEntry& entry, std::span<const std::byte> packed);
  void place_data(ZipEntry& entry, std::uint64_t header, std::uint64_t directory);

  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, std::size_t> index_;
  std::unique_ptr<std::atomic<bool>[]> checked_;  ///< per entry: the checksum was verified
};

}  // namespace attnscope
