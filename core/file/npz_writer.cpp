#include "core/file/npz_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <zlib.h>

#include "core/error.h"

namespace attnscope {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie here");

void add_little_endian(std::string& bytes, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 255U);
}

/// Header of a .npy array: "\x93NUMPY", the version, and the array's description, padded so that
/// the values begin at a multiple of 64 bytes in the entry (numpy.lib.format).
std::string npy_header(const std::string& type, const Shape& shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += std::to_string(extent) + ", ";
  if (shape.size() > 1) extents.erase(extents.size() - 2);
  std::string text =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + extents + "), }";
  constexpr std::size_t before = 10;
  while ((before + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  add_little_endian(header, text.size(), 2);
  return header + text;
}

/// Code points of a UTF-8 text. Invalid bytes become U+FFFD.
std::u32string code_points(const std::string& text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    char32_t point = more == 0 ? lead : lead & (0x3FU >> more);
    bool whole = more > 0 || lead < 0x80;
    for (int k = 0; k < more && whole; ++k) {
      whole = i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
      if (whole) point = point << 6U | (static_cast<unsigned char>(text[i++]) & 0x3FU);
    }
    points += whole ? point : U'\uFFFD';
  }
  return points;
}

}  // namespace

void NpzWriter::add_array(const std::string& name, const std::string& type, const Shape& shape,
                          std::size_t count, const void* values, std::size_t size) {
  std::size_t elements = 1;
  for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
  if (elements != count) {
    throw Error(ErrorKind::usage, "the number of values does not fit their shape")
        .about(name)
        .expected(std::to_string(elements))
        .found(std::to_string(count));
  }
  if (!names_.insert(name).second) {
    throw Error(ErrorKind::usage, "the array's name occurs twice").about(name);
  }
  std::string content = npy_header(type, shape);
  if (size > 0) content.append(static_cast<const char*>(values), size);
  auto crc = crc32(0, nullptr, 0);
  for (std::size_t i = 0; i < content.size();) {  // zlib counts in 32 bits
    const auto part = static_cast<uInt>(std::min<std::size_t>(content.size() - i, 1U << 30));
    crc = crc32(crc, reinterpret_cast<const Bytef*>(content.data() + i), part);
    i += part;
  }

  // A zip entry (APPNOTE.TXT, 4.3.7 and 4.3.12): stored, name in UTF-8, dated 1980-01-01, 00:00.
  const std::string file = name + ".npy";
  const std::uint64_t place = entries_.size();
  std::string common;
  add_little_endian(common, 20, 2);      // version needed
  add_little_endian(common, 0x0800, 2);  // UTF-8
  add_little_endian(common, 0, 2);       // stored
  add_little_endian(common, 0, 2);       // time
  add_little_endian(common, 0x21, 2);    // date
  add_little_endian(common, crc, 4);
  add_little_endian(common, content.size(), 4);
  add_little_endian(common, content.size(), 4);
  add_little_endian(common, file.size(), 2);
  // Padding by an extra field aligns the values to multiples of 64 bytes in the file.
  constexpr std::uint64_t fixed = 30, extra_head = 4;
  const std::uint64_t padding = (64 - (place + fixed + file.size() + extra_head) % 64) % 64;
  entries_ += "PK\x03\x04" + common;
  add_little_endian(entries_, extra_head + padding, 2);
  entries_ += file;
  add_little_endian(entries_, 0xA220, 2);  // Microsoft's "growth hint": padding, ignored by readers
  add_little_endian(entries_, padding, 2);
  entries_.append(padding, '\0');
  entries_ += content;

  directory_ += "PK\x01\x02";
  add_little_endian(directory_, 20, 2);  // made by
  directory_ += common;
  add_little_endian(directory_, 0, 2);  // extra field
  add_little_endian(directory_, 0, 2);  // comment
  add_little_endian(directory_, 0, 2);  // disk
  add_little_endian(directory_, 0, 2);  // internal attributes
  add_little_endian(directory_, 0, 4);  // external attributes
  add_little_endian(directory_, place, 4);
  directory_ += file;
}

void NpzWriter::add(const std::string& name, const Shape& shape, std::span<const float> values) {
  add_array(name, "<f4", shape, values.size(), values.data(), values.size_bytes());
}

void NpzWriter::add(const std::string& name, const Shape& shape, std::span<const double> values) {
  add_array(name, "<f8", shape, values.size(), values.data(), values.size_bytes());
}

void NpzWriter::add(const std::string& name, const Shape& shape,
                    std::span<const std::uint8_t> values) {
  add_array(name, "|u1", shape, values.size(), values.data(), values.size_bytes());
}

void NpzWriter::add(const std::string& name, const Shape& shape,
                    std::span<const std::int64_t> values) {
  add_array(name, "<i8", shape, values.size(), values.data(), values.size_bytes());
}

void NpzWriter::add(const std::string& name, const Shape& shape,
                    const std::vector<std::string>& texts) {
  std::vector<std::u32string> list;
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    list.push_back(code_points(text));
    longest = std::max(longest, list.back().size());
  }
  std::u32string all;
  for (std::u32string& text : list) {
    text.resize(longest, U'\0');
    all += text;
  }
  add_array(name, "<U" + std::to_string(longest), shape, list.size(), all.data(),
            all.size() * sizeof(char32_t));
}

std::string NpzWriter::bytes() const {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (entries_.size() + directory_.size() >= most || names_.size() >= 0xFFFF) {
    throw Error(ErrorKind::io, "the arrays are too many for one .npz file")
        .expected("less than 4 GB and 65,535 arrays")
        .found(std::to_string(entries_.size()) + " bytes, " + std::to_string(names_.size()) +
               " arrays")
        .remedy("write .h5 instead");
  }
  std::string end = "PK\x05\x06";
  add_little_endian(end, 0, 2);  // disk
  add_little_endian(end, 0, 2);  // disk of the directory
  add_little_endian(end, names_.size(), 2);
  add_little_endian(end, names_.size(), 2);
  add_little_endian(end, directory_.size(), 4);
  add_little_endian(end, entries_.size(), 4);
  add_little_endian(end, 0, 2);  // comment
  return entries_ + directory_ + end;
}

}  // namespace attnscope
