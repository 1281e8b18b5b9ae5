// Reader of HDF5's global heap, which holds variable-length texts. The library is not used because
// it copies as many bytes as the heap claims into a buffer of the length that the reference claims,
// and loops forever over collections whose objects have size 0. Format: HDF5 File Format
// Specification 3.0, III.E "Disk Format: Level 1E - Global Heap".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

namespace attnscope {

/// Stored reference to a variable-length value: length and location.
struct HeapReference {
  std::uint32_t length = 0;      ///< number of elements
  std::uint64_t collection = 0;  ///< address; 0 or undefined for an empty value
  std::uint32_t index = 0;       ///< index of the object in its collection

  static constexpr std::size_t bytes = 16;  ///< size in the file, with 8-byte addresses
  [[nodiscard]] static HeapReference read(std::span<const std::byte, bytes> stored);
};

class GlobalHeap {
 public:
  /// `file`: all bytes from the superblock's base address on; addresses are relative to it.
  explicit GlobalHeap(std::span<const std::byte> file) : file_(file) {}

  /// The text that `reference` refers to. Throws Error(damaged) unless the collection is inside the
  /// file, the object inside the collection, and the text inside the object.
  [[nodiscard]] std::string_view text(const HeapReference& reference);

 private:
  using Objects = std::map<std::uint32_t, std::string_view>;
  const Objects& collection(std::uint64_t address);

  std::span<const std::byte> file_;
  std::map<std::uint64_t, Objects> collections_;  ///< collections read so far, by address
};

}  // namespace attnscope
