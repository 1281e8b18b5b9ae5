#include "core/wire/frame.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/text/json.h"

namespace attnscope {

namespace {

using nlohmann::json;

constexpr std::string_view kFrameMagic = "attn";
constexpr std::size_t kPrefixBytes = 16, kMostAxes = 8;
constexpr std::int64_t kLongestAxis = std::numeric_limits<std::int32_t>::max();
constexpr JsonLimits kHeaderJson{.depth = 16, .elements = 600'000};  // 1 MiB of digits and commas
constexpr DType kSentTypes[] = {DType::f32, DType::f64, DType::f16, DType::u8, DType::i64};

Error damaged_frame(std::string what) { return Error(ErrorKind::damaged, std::move(what)); }

DType sent_type(const json& entry) {
  const auto name = entry.find("dtype");
  if (name != entry.end() && name->is_string()) {
    for (const DType type : kSentTypes) {
      if (name_of(type) == name->get_ref<const std::string&>()) return type;
    }
  }
  throw Error(ErrorKind::unsupported, "the element type of the array is not supported")
      .expected("float32, float64, float16, uint8 or int64")
      .found(name == entry.end() ? "none" : name->dump(-1, ' ', true).substr(0, 80));
}

Shape sent_shape(const json& entry) {
  const auto list = entry.find("shape");
  const bool fits = list != entry.end() && list->is_array() && list->size() <= kMostAxes;
  Shape shape;
  for (std::size_t i = 0; fits && i < list->size(); ++i) {
    const json& extent = (*list)[i];
    if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() > kLongestAxis) break;
    shape.push_back(extent.get<std::int64_t>());
  }
  if (fits && shape.size() == list->size()) return shape;
  throw damaged_frame("the shape of the array is invalid")
      .expected("at most " + std::to_string(kMostAxes) + " whole numbers up to " +
                std::to_string(kLongestAxis))
      .found(list == entry.end() ? "none" : list->dump(-1, ' ', true).substr(0, 80));
}

/// An array of the header's list, without its elements. Its size is at most `most` bytes.
StoredTensor sent_array(const json& entry, std::uint64_t most) {
  if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) {
    throw damaged_frame("an array of the frame has no name")
        .expected(R"({"name": "maps", "dtype": "float32", "shape": [12, 197, 197]})")
        .found(entry.dump(-1, ' ', true).substr(0, 80));
  }
  StoredTensor array;
  array.name = entry["name"].get<std::string>();
  try {
    array.dtype = sent_type(entry);
    array.shape = sent_shape(entry);
    array.bytes = byte_count(array.shape, array.dtype);
    if (static_cast<std::uint64_t>(array.bytes) > most) {
      throw damaged_frame("the arrays take more bytes than the prefix states")
          .expected("at most " + std::to_string(most) + " further bytes")
          .found(std::to_string(array.bytes));
    }
  } catch (Error& error) {
    error.about(array.name.substr(0, 80));
    throw;
  }
  return array;
}

std::vector<StoredTensor> sent_arrays(const json& header, std::uint64_t stated) {
  const json list = header.value("arrays", json::array());
  if (!list.is_array()) throw damaged_frame("'arrays' is not a list").about("arrays");
  std::vector<StoredTensor> arrays;
  std::set<std::string> names;
  std::uint64_t bytes = 0;
  for (const json& entry : list) {
    StoredTensor array = sent_array(entry, stated - bytes);
    bytes += static_cast<std::uint64_t>(array.bytes);
    if (!names.insert(array.name).second) {
      throw damaged_frame("two arrays of the frame have the same name")
          .about(array.name.substr(0, 80));
    }
    arrays.push_back(std::move(array));
  }
  if (bytes != stated) {
    throw damaged_frame("the arrays take fewer bytes than the prefix states")
        .expected(std::to_string(stated) + " bytes")
        .found(std::to_string(bytes));
  }
  return arrays;
}

}  // namespace

FrameReader::FrameReader(const FrameLimits& limits) : limits_(limits), text_(kPrefixBytes) {}

std::span<std::byte> FrameReader::wanted() {
  if (part_ != Part::arrays) return std::span(text_).subspan(static_cast<std::size_t>(filled_));
  if (!bytes_) bytes_ = std::make_shared_for_overwrite<std::byte[]>(array_bytes_);
  return {bytes_.get() + filled_, static_cast<std::size_t>(array_bytes_ - filled_)};
}

bool FrameReader::advance(std::size_t count) {
  filled_ += count;
  if (part_ == Part::prefix && filled_ == text_.size()) read_prefix();
  if (part_ == Part::header && filled_ == text_.size()) read_header();
  return part_ == Part::arrays && filled_ == array_bytes_;
}

void FrameReader::read_prefix() {
  if (std::memcmp(text_.data(), kFrameMagic.data(), kFrameMagic.size()) != 0) {
    throw Error(ErrorKind::not_this_format, "the bytes are not a frame of Attnscope's protocol")
        .expected("the letters attn at its beginning")
        .remedy("docs/protocol.md describes frames");
  }
  std::uint32_t header = 0;
  std::memcpy(&header, text_.data() + kFrameMagic.size(), sizeof header);
  std::memcpy(&stated_, text_.data() + kPrefixBytes - sizeof stated_, sizeof stated_);
  if (header < 2 || header > limits_.header) {  // the shortest header is {}
    throw damaged_frame("the header of the frame has an invalid length")
        .expected("2 to " + std::to_string(limits_.header) + " bytes")
        .found(std::to_string(header));
  }
  if (stated_ > limits_.arrays) {
    throw Error(ErrorKind::unsupported, "the arrays of the message exceed the limit of memory")
        .expected("at most " + std::to_string(limits_.arrays) + " bytes")
        .found(std::to_string(stated_))
        .remedy("send fewer layers, or start the window with a larger --message-memory");
  }
  part_ = Part::header;
  text_.assign(header, std::byte{});
  filled_ = 0;
}

void FrameReader::read_header() {
  frame_.header =
      parse_json({reinterpret_cast<const char*>(text_.data()), text_.size()}, kHeaderJson);
  if (!frame_.header.is_object()) throw damaged_frame("the header is not a JSON object");
  frame_.arrays = sent_arrays(frame_.header, stated_);
  part_ = Part::arrays;
  array_bytes_ = stated_;
  filled_ = 0;
}

Frame FrameReader::take() {
  std::uint64_t offset = 0;
  for (StoredTensor& array : frame_.arrays) {
    array.view = [bytes = bytes_, size = array_bytes_, offset, dtype = array.dtype,
                  shape = array.shape] {
      return view_of(std::span<const std::byte>(bytes.get(), size), bytes, offset, dtype, shape);
    };
    offset += static_cast<std::uint64_t>(array.bytes);
  }
  Frame frame = std::move(frame_);
  *this = FrameReader(limits_);
  return frame;
}

std::string frame_head(const json& header, std::uint64_t array_bytes) {
  const std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto header_length = static_cast<std::uint32_t>(text.size());
  std::string bytes(kFrameMagic);
  bytes.append(reinterpret_cast<const char*>(&header_length), sizeof header_length);
  bytes.append(reinterpret_cast<const char*>(&array_bytes), sizeof array_bytes);
  return bytes.append(text);
}

std::string frame_bytes(const json& header, std::string_view arrays) {
  return frame_head(header, arrays.size()).append(arrays);
}

}  // namespace attnscope
