#include "core/checkpoint/key_values.h"

#include <utility>

#include "core/checkpoint/byte_cursor.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using Type = KeyValues::Type;

constexpr int deepest_list = 4;
constexpr std::uint64_t longest_key = 65535;  // bytes, from the specification

std::string_view type_name(Type type) {
  constexpr std::string_view names[] = {"uint8",  "int8",    "uint16", "int16", "uint32",
                                        "int32",  "float32", "bool",   "text",  "list",
                                        "uint64", "int64",   "float64"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t bytes_in(Type type) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[static_cast<std::size_t>(type)];
}

bool is_whole(Type type) {
  return type != Type::f32 && type != Type::f64 && type != Type::boolean && type != Type::text &&
         type != Type::list;
}

bool is_number_type(Type type) { return is_whole(type) || type == Type::f32 || type == Type::f64; }

Type read_type(ByteCursor& cursor) {
  const auto number = cursor.little<std::uint32_t>();
  if (number > static_cast<std::uint32_t>(Type::f64)) {
    throw Error(ErrorKind::damaged, "a value's type is unknown")
        .expected("0 to 12")
        .found(std::to_string(number));
  }
  return static_cast<Type>(number);
}

void skip_value(ByteCursor& cursor, Type type, int depth);

void skip_items(ByteCursor& cursor, Type item, std::uint64_t count, int depth) {
  if (const std::size_t size = bytes_in(item); size > 0) {
    if (count > cursor.remaining() / size) {
      throw Error(ErrorKind::damaged, "a list is longer than the file")
          .found(std::to_string(count) + " items");
    }
    cursor.take(count * size);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) skip_value(cursor, item, depth);
}

void skip_value(ByteCursor& cursor, Type type, int depth) {
  if (depth > deepest_list) throw Error(ErrorKind::damaged, "lists are nested too deeply");
  if (type == Type::text) {
    cursor.take(cursor.little<std::uint64_t>());
  } else if (type == Type::list) {
    const Type item = read_type(cursor);
    skip_items(cursor, item, cursor.little<std::uint64_t>(), depth + 1);
  } else {
    cursor.take(bytes_in(type));
  }
}

std::int64_t read_whole(ByteCursor& cursor, Type type) {
  switch (type) {
    case Type::u8:
      return cursor.little<std::uint8_t>();
    case Type::i8:
      return cursor.little<std::int8_t>();
    case Type::u16:
      return cursor.little<std::uint16_t>();
    case Type::i16:
      return cursor.little<std::int16_t>();
    case Type::u32:
      return cursor.little<std::uint32_t>();
    case Type::i32:
      return cursor.little<std::int32_t>();
    case Type::u64: {
      const auto value = cursor.little<std::uint64_t>();
      if (value >> 63 != 0) {
        throw Error(ErrorKind::damaged, "the number is absurdly large")
            .found(std::to_string(value));
      }
      return static_cast<std::int64_t>(value);
    }
    default:
      return cursor.little<std::int64_t>();
  }
}

double read_number(ByteCursor& cursor, Type type) {
  if (type == Type::f32) return static_cast<double>(cursor.little<float>());
  if (type == Type::f64) return cursor.little<double>();
  if (type == Type::u64) return static_cast<double>(cursor.little<std::uint64_t>());
  return static_cast<double>(read_whole(cursor, type));
}

}  // namespace

KeyValues KeyValues::read(std::shared_ptr<const MappedFile> file, ByteCursor& cursor,
                          std::uint64_t count) {
  constexpr std::size_t shortest = 8 + 4 + 1;  // bytes of a key's length, a type and a value
  if (count > cursor.remaining() / shortest) {
    throw Error(ErrorKind::damaged, "the file claims more keys than fit into it")
        .found(std::to_string(count));
  }
  KeyValues result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = cursor.little<std::uint64_t>();
    if (length > longest_key) {
      throw Error(ErrorKind::damaged, "a key is absurdly long")
          .found(std::to_string(length) + " bytes");
    }
    const std::string key(cursor.text(length));
    try {
      Value value{read_type(cursor), Type::u8, 1, {}};
      if (value.type == Type::list) {
        value.item = read_type(cursor);
        value.count = cursor.little<std::uint64_t>();
      }
      ByteCursor start = cursor;
      if (value.type == Type::list) {
        skip_items(cursor, value.item, value.count, 1);
      } else {
        skip_value(cursor, value.type, 0);
      }
      value.bytes = start.take(cursor.position() - start.position());
      if (!result.values_.emplace(key, value).second) {
        throw Error(ErrorKind::damaged, "the key occurs twice");
      }
    } catch (Error& error) {
      error.about(key);
      throw;
    }
  }
  result.file_ = std::move(file);
  return result;
}

std::vector<std::string> KeyValues::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

const KeyValues::Value* KeyValues::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

/// The items of a list, or the value as its only item, each read by `read(cursor, type)`.
template <class Item, class Accepts, class Read>
std::optional<std::vector<Item>> KeyValues::items(std::string_view key, bool list,
                                                  std::string_view wanted, Accepts&& accepts,
                                                  Read&& read) const {
  const Value* const value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool is_list = value->type == Type::list;
  const Type type = is_list ? value->item : value->type;
  if (is_list != list || !accepts(type)) {
    throw Error(ErrorKind::damaged, "the value has the wrong type")
        .about(std::string(key))
        .expected((list ? "a list of " : "") + std::string(wanted))
        .found((is_list ? "a list of " : "") + std::string(type_name(type)));
  }
  try {
    return read_unchanged(*file_, [&] {
      ByteCursor cursor(value->bytes);
      std::vector<Item> items;
      items.reserve(value->count);  // at most one per byte, checked when the file was opened
      for (std::uint64_t i = 0; i < value->count; ++i) items.push_back(read(cursor, type));
      return items;
    });
  } catch (Error& error) {
    error.about(std::string(key));
    throw;
  }
}

template <class Item>
std::optional<Item> KeyValues::only(std::optional<std::vector<Item>> items) const {
  if (!items) return std::nullopt;
  return std::move(items->front());
}

std::optional<std::vector<std::int64_t>> KeyValues::whole_items(std::string_view key,
                                                                bool list) const {
  return items<std::int64_t>(key, list, "integers", is_whole, read_whole);
}

std::optional<std::vector<double>> KeyValues::number_items(std::string_view key, bool list) const {
  return items<double>(key, list, "numbers", is_number_type, read_number);
}

std::optional<std::vector<std::string>> KeyValues::text_items(std::string_view key,
                                                              bool list) const {
  return items<std::string>(
      key, list, "text", [](Type type) { return type == Type::text; },
      [](ByteCursor& cursor, Type) {
        return std::string(cursor.text(cursor.little<std::uint64_t>()));
      });
}

std::optional<bool> KeyValues::truth(std::string_view key) const {
  const auto values = items<char>(
      key, false, "bool", [](Type type) { return type == Type::boolean; },
      [](ByteCursor& cursor, Type) -> char {
        const auto value = cursor.little<std::uint8_t>();
        if (value > 1) {
          throw Error(ErrorKind::damaged, "neither true nor false").found(std::to_string(value));
        }
        return static_cast<char>(value);
      });
  if (!values) return std::nullopt;
  return values->front() != 0;
}

std::optional<std::string> KeyValues::text(std::string_view key) const {
  return only(text_items(key, false));
}
std::optional<std::int64_t> KeyValues::whole(std::string_view key) const {
  return only(whole_items(key, false));
}
std::optional<double> KeyValues::number(std::string_view key) const {
  return only(number_items(key, false));
}
std::optional<std::vector<std::string>> KeyValues::texts(std::string_view key) const {
  return text_items(key, true);
}
std::optional<std::vector<std::int64_t>> KeyValues::wholes(std::string_view key) const {
  return whole_items(key, true);
}
std::optional<std::vector<double>> KeyValues::numbers(std::string_view key) const {
  return number_items(key, true);
}

std::string KeyValues::shown(std::string_view key) const {
  constexpr std::uint64_t longest_text = 256, longest_list = 8;
  const Value* const value = find(key);
  if (value == nullptr) return {};
  if (value->type == Type::text) {
    if (value->bytes.size() <= 8 + longest_text) return *text(key);
    return "[text of " + std::to_string(value->bytes.size() - 8) + " bytes]";
  }
  if (value->type == Type::boolean) return *truth(key) ? "true" : "false";
  if (value->type == Type::u64) {
    return std::to_string(ByteCursor(value->bytes).little<std::uint64_t>());
  }
  if (is_whole(value->type)) return std::to_string(*whole(key));
  if (is_number_type(value->type)) return rounded_text(*number(key), 9);
  const bool short_numbers = value->count <= longest_list && is_number_type(value->item);
  if (!short_numbers) {
    return "[" + std::to_string(value->count) + " × " + std::string(type_name(value->item)) + "]";
  }
  std::string list;
  const std::optional<std::vector<double>> items = numbers(key);
  for (const double number : *items) {
    list += (list.empty() ? "[" : ", ") + rounded_text(number, 9);
  }
  return list.empty() ? "[]" : list + "]";
}

}  // namespace attnscope
