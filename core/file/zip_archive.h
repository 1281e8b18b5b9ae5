// Zip archives from strangers, read from mapped memory. Written here and not left to libzip because
// stored entries (the weights of .pt and .npz files) are to be mapped in place, and libzip does not
// tell where an entry's bytes lie.
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
  std::uint64_t offset = 0;       ///< of its data in the file
  std::uint64_t packed_size = 0;  ///< bytes in the file
  std::uint64_t size = 0;         ///< bytes when unpacked
  std::uint32_t checksum = 0;     ///< CRC-32 of the unpacked bytes; 0 may be none (torch.save)
};

/// Bytes of an entry and what keeps them alive.
struct ZipBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> storage;
};

/// The directory of an archive, checked: every entry lies inside the file, none overlap, names are
/// unique and agree with the entries' own headers, none are encrypted, and none is a
/// bomb, alone or together.
class ZipArchive {
 public:
  /// Throws Error(damaged), or Error(unsupported) for encryption, other compression methods and
  /// archives of several parts.
  explicit ZipArchive(std::shared_ptr<const MappedFile> file);

  /// In the order of the directory, without folders.
  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  [[nodiscard]] const ZipEntry* find(const std::string& name) const;

  /// A stored entry in place, a deflated one unpacked; its checksum is checked, a stored entry's
  /// the first time and on all cores. Throws Error(damaged), or Error(io) if the file was written
  /// to meanwhile.
  [[nodiscard]] ZipBytes read(const ZipEntry& entry) const;
  /// The first `count` bytes (or all, if fewer), unchecked.
  [[nodiscard]] ZipBytes read_start(const ZipEntry& entry, std::uint64_t count) const;

 private:
  void read_directory();
  void check_stored(const ZipEntry& entry, std::span<const std::byte> bytes) const;
  static ZipBytes inflated(const ZipEntry& entry, std::span<const std::byte> packed);
  void place_data(ZipEntry& entry, std::uint64_t header, std::uint64_t directory);

  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
  std::map<std::string, std::size_t> index_;
  std::unique_ptr<std::atomic<bool>[]> checked_;  ///< of each entry: its checksum was found to fit
};

}  // namespace attnscope
