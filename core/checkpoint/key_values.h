// Metadata of a GGUF file and its tokenizer: typed values by key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file/mapped_file.h"

namespace attnscope {

class ByteCursor;

/// Values are read from the mapped file on request. Each typed query throws Error(damaged), naming
/// key and types, if the value has another type, and Error(io) if the file was changed in the
/// meantime.
///
///     const KeyValues& keys = *checkpoint.key_values();
///     const std::int64_t layers = keys.whole("llama.block_count").value();
///     const std::vector<std::string> tokens = keys.texts("tokenizer.ggml.tokens").value();
class KeyValues {
 public:
  /// Value types with GGUF's type numbers.
  enum class Type : std::uint32_t {
    u8 = 0,
    i8 = 1,
    u16 = 2,
    i16 = 3,
    u32 = 4,
    i32 = 5,
    f32 = 6,
    boolean = 7,
    text = 8,
    list = 9,
    u64 = 10,
    i64 = 11,
    f64 = 12
  };

  /// Reads `count` pairs from `cursor`, a cursor over the bytes of `file`, and advances it past
  /// them. Throws Error(damaged) for truncated values, unknown types and duplicate keys.
  static KeyValues read(std::shared_ptr<const MappedFile> file, ByteCursor& cursor,
                        std::uint64_t count);

  [[nodiscard]] bool contains(std::string_view key) const { return values_.contains(key); }
  /// All keys, sorted.
  [[nodiscard]] std::vector<std::string> keys() const;

  // The typed queries return nullopt for a missing key.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] std::optional<bool> truth(std::string_view key) const;
  /// Value of any integer type. Throws Error(damaged) above 2^63 − 1.
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view key) const;
  /// Value of any numeric type.
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<double>> numbers(std::string_view key) const;

  /// Display text of the value: short values in full, long ones as "[32000 texts]".
  [[nodiscard]] std::string shown(std::string_view key) const;

 private:
  struct Value {
    Type type = Type::u8;
    Type item = Type::u8;     ///< item type of a list
    std::uint64_t count = 1;  ///< number of items of a list
    std::span<const std::byte> bytes;
  };

  const Value* find(std::string_view key) const;
  template <class Item, class Accepts, class Read>
  std::optional<std::vector<Item>> items(std::string_view key, bool list, std::string_view wanted,
                                         Accepts&& accepts, Read&& read) const;
  template <class Item>
  std::optional<Item> only(std::optional<std::vector<Item>> items) const;
  std::optional<std::vector<std::int64_t>> whole_items(std::string_view key, bool list) const;
  std::optional<std::vector<double>> number_items(std::string_view key, bool list) const;
  std::optional<std::vector<std::string>> text_items(std::string_view key, bool list) const;

  std::shared_ptr<const MappedFile> file_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace attnscope
