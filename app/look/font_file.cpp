#include "app/look/font_file.h"

#include <QRawFont>
#include <QtEndian>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace attnscope {

namespace {

template <typename Number>
void append(QByteArray& bytes, Number value) {
  const Number big = qToBigEndian(value);
  bytes.append(reinterpret_cast<const char*>(&big), sizeof(big));
}

}  // namespace

// Builds a font file from the face's tables and a directory before them (OpenType specification,
// "Organization of an OpenType Font"), because Qt provides only single tables.
QByteArray font_file(const QFont& font) {
  const QRawFont face = QRawFont::fromFont(font);
  if (!face.isValid()) return {};
  std::vector<std::pair<const char*, QByteArray>> tables;
  // The directory requires the tables in the order of their tags.
  for (const char* tag : {"CFF ", "GDEF", "OS/2", "cmap", "cvt ", "fpgm", "glyf", "head", "hhea",
                          "hmtx", "loca", "maxp", "name", "post", "prep"}) {
    QByteArray table = face.fontTable(tag);
    if (!table.isEmpty()) tables.emplace_back(tag, std::move(table));
  }
  const bool postscript = !face.fontTable("CFF ").isEmpty();
  if (!postscript && face.fontTable("glyf").isEmpty()) return {};

  const auto count = static_cast<std::uint16_t>(tables.size());
  const auto log2 = static_cast<std::uint16_t>(std::bit_width(count) - 1);
  const auto search = static_cast<std::uint16_t>(16U << log2);
  QByteArray file;
  append(file, postscript ? std::uint32_t{0x4f54544f} : std::uint32_t{0x00010000});
  append(file, count);
  append(file, search);
  append(file, log2);
  append(file, static_cast<std::uint16_t>(count * 16 - search));
  auto offset = static_cast<std::uint32_t>(12 + 16 * tables.size());
  for (const auto& [tag, table] : tables) {
    file.append(tag, 4);
    append(file, std::uint32_t{0});  // the checksum, which is not verified
    append(file, offset);
    append(file, static_cast<std::uint32_t>(table.size()));
    offset += (static_cast<std::uint32_t>(table.size()) + 3U) / 4U * 4U;
  }
  for (const auto& [tag, table] : tables) {
    file.append(table);
    file.append((4 - table.size() % 4) % 4, '\0');
  }
  return file;
}

}  // namespace attnscope
