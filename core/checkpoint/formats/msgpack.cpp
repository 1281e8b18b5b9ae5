#include "core/checkpoint/formats/msgpack.h"

#include <bit>
#include <set>
#include <utility>

#include "core/checkpoint/byte_cursor.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int deepest_value = 32;
constexpr std::size_t most_values = 1'000'000;

Error broken_msgpack(const std::string& what) { return Error(ErrorKind::damaged, what); }

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : cursor_(bytes) {}

  MsgpackValue read(int depth) {
    if (depth > deepest_value) throw broken_msgpack("values are nested too deeply");
    if (++values_ > most_values) throw broken_msgpack("the file has too many values");
    const std::uint64_t tag = cursor_.big(1);
    if (tag <= 0x7F) return whole(static_cast<std::int64_t>(tag));
    if (tag <= 0x8F) return map(tag & 0x0F, depth);
    if (tag <= 0x9F) return list(tag & 0x0F, depth);
    if (tag <= 0xBF) return bytes(MsgpackKind::text, tag & 0x1F);
    if (tag >= 0xE0) return whole(static_cast<std::int64_t>(tag) - 256);
    const auto width = [tag](std::uint64_t first) { return std::size_t{1} << (tag - first); };
    switch (tag) {
      case 0xC0:
        return {};
      case 0xC2:
      case 0xC3:
        return {MsgpackKind::boolean, static_cast<std::int64_t>(tag - 0xC2), 0, {}, {}};
      case 0xC4:
      case 0xC5:
      case 0xC6:
        return bytes(MsgpackKind::binary, cursor_.big(width(0xC4)));
      case 0xC7:
      case 0xC8:
      case 0xC9:
        return extension(cursor_.big(width(0xC7)));
      case 0xCA:
        return real(std::bit_cast<float>(static_cast<std::uint32_t>(cursor_.big(4))));
      case 0xCB:
        return real(std::bit_cast<double>(cursor_.big(8)));
      case 0xCC:
      case 0xCD:
      case 0xCE:
      case 0xCF:
        return unsigned_whole(cursor_.big(width(0xCC)));
      case 0xD0:
        return whole(static_cast<std::int8_t>(cursor_.big(1)));
      case 0xD1:
        return whole(static_cast<std::int16_t>(cursor_.big(2)));
      case 0xD2:
        return whole(static_cast<std::int32_t>(cursor_.big(4)));
      case 0xD3:
        return whole(static_cast<std::int64_t>(cursor_.big(8)));
      case 0xD4:
      case 0xD5:
      case 0xD6:
      case 0xD7:
      case 0xD8:
        return extension(width(0xD4));
      case 0xD9:
      case 0xDA:
      case 0xDB:
        return bytes(MsgpackKind::text, cursor_.big(width(0xD9)));
      case 0xDC:
      case 0xDD:
        return list(cursor_.big(2 * width(0xDC)), depth);
      case 0xDE:
      case 0xDF:
        return map(cursor_.big(2 * width(0xDE)), depth);
      default:
        throw broken_msgpack("a value has an unknown type byte");
    }
  }

  [[nodiscard]] bool at_end() const { return cursor_.remaining() == 0; }

 private:
  static MsgpackValue whole(std::int64_t value) { return {MsgpackKind::integer, value, 0, {}, {}}; }
  static MsgpackValue real(double value) { return {MsgpackKind::real, 0, value, {}, {}}; }
  static MsgpackValue unsigned_whole(std::uint64_t value) {
    return value >> 63 == 0 ? whole(static_cast<std::int64_t>(value))
                            : real(static_cast<double>(value));
  }
  MsgpackValue bytes(MsgpackKind kind, std::uint64_t count) {
    return {kind, 0, 0, cursor_.take(count), {}};
  }
  MsgpackValue extension(std::uint64_t count) {
    const auto type = static_cast<std::int8_t>(cursor_.big(1));
    return {MsgpackKind::extension, type, 0, cursor_.take(count), {}};
  }
  MsgpackValue list(std::uint64_t count, int depth) {
    MsgpackValue value{MsgpackKind::list, 0, 0, {}, {}};
    for (std::uint64_t i = 0; i < count; ++i) {
      value.members.push_back({std::to_string(i), read(depth + 1)});
    }
    return value;
  }
  MsgpackValue map(std::uint64_t count, int depth) {
    MsgpackValue value{MsgpackKind::map, 0, 0, {}, {}};
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < count; ++i) {
      const MsgpackValue key = read(depth + 1);
      if (key.kind != MsgpackKind::text && key.kind != MsgpackKind::integer)
        throw broken_msgpack("a key is neither a string nor an integer");
      std::string name =
          key.kind == MsgpackKind::integer
              ? std::to_string(key.integer)
              : std::string(reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size());
      if (!names.insert(name).second) throw broken_msgpack("a key occurs twice").about(name);
      MsgpackValue member = read(depth + 1);
      value.members.push_back({std::move(name), std::move(member)});
    }
    return value;
  }

  ByteCursor cursor_;
  std::size_t values_ = 0;
};

}  // namespace

const MsgpackValue* MsgpackValue::find(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

MsgpackValue read_msgpack(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  MsgpackValue value = reader.read(0);
  if (!reader.at_end()) throw broken_msgpack("bytes follow after the last value");
  return value;
}

}  // namespace attnscope
