#include "app/render/pdf_palettes.h"

#include <QHash>
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

namespace {

/// The whole number after `key` in `text`, as in "/Width 197"; absent if there is none.
std::optional<qsizetype> number_after(const QByteArray& text, const char* key) {
  const qsizetype start = text.indexOf(key);
  if (start < 0) return std::nullopt;
  qsizetype end = start + static_cast<qsizetype>(std::strlen(key));
  const qsizetype first = end;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  bool is_number = false;
  const qlonglong number = text.mid(first, end - first).toLongLong(&is_number);
  return is_number ? std::optional<qsizetype>(number) : std::nullopt;
}

/// A PDF's table of objects, as QPdfWriter writes it: one section, free entry first.
struct ObjectTable {
  qsizetype begin = 0;             ///< position of "xref"
  std::vector<qsizetype> offsets;  ///< by number of the object; 0 for the free entry
  QByteArray trailer;              ///< from "trailer" to the line "startxref"
};

std::optional<ObjectTable> table_of(const QByteArray& pdf) {
  ObjectTable table;
  const qsizetype last = pdf.lastIndexOf("startxref\n");
  if (last < 0) return std::nullopt;
  const std::optional<qsizetype> begin = number_after(pdf.mid(last), "startxref\n");
  if (!begin || *begin >= last) return std::nullopt;
  table.begin = *begin;
  const QByteArray text = pdf.mid(table.begin, last - table.begin);
  const std::optional<qsizetype> count = number_after(text, "xref\n0 ");
  const qsizetype trailer = text.indexOf("trailer\n");
  constexpr qsizetype entry = 20;  // bytes, of which ten are the offset
  if (!count || trailer < 0 || trailer < *count * entry) return std::nullopt;
  const qsizetype first = trailer - *count * entry;
  for (qsizetype number = 0; number < *count; ++number) {
    const bool used = text[first + number * entry + entry - 3] == 'n';
    table.offsets.push_back(used ? text.mid(first + number * entry, 10).toLongLong() : 0);
  }
  table.trailer = text.mid(trailer);
  return table;
}

/// The stream of a picture as indices into its colours.
struct Indexed {
  QByteArray pixels, palette;  ///< a byte per pixel; three bytes per colour
};

std::optional<Indexed> indexed(const QByteArray& rgb) {
  constexpr qsizetype most_colours = 256;
  Indexed found;
  QHash<QByteArrayView, char> places;
  found.pixels.reserve(rgb.size() / 3);
  for (qsizetype at = 0; at + 3 <= rgb.size(); at += 3) {
    const QByteArrayView colour = QByteArrayView(rgb).sliced(at, 3);
    auto place = places.constFind(colour);
    if (place == places.constEnd()) {
      if (places.size() == most_colours) return std::nullopt;
      place = places.insert(colour, static_cast<char>(places.size()));
      found.palette += colour;
    }
    found.pixels += *place;
  }
  return found;
}

/// The object with its picture in palette form; unchanged if it holds none that can be.
QByteArray with_palette(const QByteArray& object, const QByteArray& pdf, const ObjectTable& table) {
  constexpr std::string_view stream = ">>\nstream\n", colours = "/ColorSpace /DeviceRGB\n";
  const qsizetype begin = object.indexOf(stream.data());
  if (begin < 0) return object;
  QByteArray head = object.left(begin);
  if (!head.contains("/Subtype /Image\n") || !head.contains(colours.data()) ||
      !head.contains("/BitsPerComponent 8\n") || !head.contains("/Filter /FlateDecode\n")) {
    return object;
  }
  const auto width = number_after(head, "/Width "), height = number_after(head, "/Height ");
  const auto length_object = number_after(head, "/Length ");
  if (!width || !height || !length_object ||
      *length_object >= static_cast<qsizetype>(table.offsets.size())) {
    return object;
  }
  const QByteArray reference = "/Length " + QByteArray::number(*length_object) + " 0 R\n";
  const auto length = number_after(
      pdf.mid(table.offsets[static_cast<std::size_t>(*length_object)], 64), " 0 obj\n");
  const qsizetype data = begin + static_cast<qsizetype>(stream.size());
  if (!length || !head.contains(reference) || data + *length > object.size()) return object;

  const qsizetype bytes = 3 * *width * *height;
  QByteArray sized(4, '\0');  // qUncompress expects the size before the data
  for (int i = 0; i < 4; ++i) sized[i] = static_cast<char>(bytes >> (24 - 8 * i) & 255);
  const QByteArray rgb = qUncompress(sized + object.mid(data, *length));
  if (rgb.size() != bytes) return object;
  const std::optional<Indexed> found = indexed(rgb);
  if (!found || found->palette.isEmpty()) return object;

  const QByteArray packed = qCompress(found->pixels, 9).mid(4);
  head.replace(colours.data(), "/ColorSpace [/Indexed /DeviceRGB " +
                                   QByteArray::number(found->palette.size() / 3 - 1) + " <" +
                                   found->palette.toHex() + ">]\n");
  head.replace(reference, "/Length " + QByteArray::number(packed.size()) + "\n");
  return head + stream.data() + packed + object.mid(data + *length);
}

}  // namespace

QByteArray with_palettes(const QByteArray& pdf) {
  const std::optional<ObjectTable> table = table_of(pdf);
  if (!table) return pdf;
  std::vector<std::pair<qsizetype, std::size_t>> order;  // offset and number
  for (std::size_t number = 0; number < table->offsets.size(); ++number) {
    if (table->offsets[number] > 0) order.emplace_back(table->offsets[number], number);
  }
  std::ranges::sort(order);
  if (order.empty() || order.back().first >= table->begin) return pdf;

  QByteArray written = pdf.left(order.front().first);
  std::vector<qsizetype> offsets(table->offsets.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const qsizetype end = i + 1 < order.size() ? order[i + 1].first : table->begin;
    offsets[order[i].second] = written.size();
    written += with_palette(pdf.mid(order[i].first, end - order[i].first), pdf, *table);
  }
  const qsizetype begin = written.size();
  written += "xref\n0 " + QByteArray::number(offsets.size()) + "\n";
  for (const qsizetype offset : offsets) {
    written += QByteArray::number(offset).rightJustified(10, '0') +
               (offset > 0 ? " 00000 n \n" : " 65535 f \n");
  }
  return written + table->trailer + "startxref\n" + QByteArray::number(begin) + "\n%%EOF\n";
}

}  // namespace attnscope
