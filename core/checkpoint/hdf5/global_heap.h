// HDF5's global heap, where texts of any length lie, read from the file's bytes and not by the
// library: that one copies as many bytes as the heap says into room for as many as the reference
// says, and follows collections whose objects have no size for ever.
// Format: HDF5 File Format Specification 3.0, III.E "Disk Format: Level 1E - Global Heap".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

namespace attnscope {

/// What a value of variable length is in the file: how long, and where.
struct HeapReference {
  std::uint32_t length = 0;      ///< elements
  std::uint64_t collection = 0;  ///< address; 0 or undefined for an empty value
  std::uint32_t index = 0;       ///< of the object in its collection

  static constexpr std::size_t bytes = 16;  ///< in the file, with addresses of 8 bytes
  [[nodiscard]] static HeapReference read(std::span<const std::byte, bytes> stored);
};

class GlobalHeap {
 public:
  /// `file`: all bytes from the superblock's base address on, from which addresses count.
  explicit GlobalHeap(std::span<const std::byte> file) : file_(file) {}

  /// The text that `reference` leads to. Throws Error(damaged) unless the collection lies in the
  /// file, the object in the collection, and the text in the object.
  [[nodiscard]] std::string_view text(const HeapReference& reference);

 private:
  using Objects = std::map<std::uint32_t, std::string_view>;
  const Objects& collection(std::uint64_t address);

  std::span<const std::byte> file_;
  std::map<std::uint64_t, Objects> collections_;  ///< those read so far, by address
};

}  // namespace attnscope
