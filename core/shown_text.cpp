#include "core/shown_text.h"

#include <array>
#include <cstdio>

#include "core/utf8.h"

namespace attnscope {

namespace {

std::string escape(const char* format, unsigned number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

struct Range {
  char32_t first, last;
};

/// Characters that are invisible or change how other text is displayed.
constexpr Range hidden_ranges[] = {{0x00, 0x1F},      {0x7F, 0x9F},      // control characters
                                   {0x61C, 0x61C},    {0x200E, 0x200F},  // bidirectional marks
                                   {0x2028, 0x202E},  // line and paragraph separators, embeddings
                                   {0x2066, 0x2069},  // isolates
                                   {0x200B, 0x200B},  {0x2060, 0x2060},  // zero-width spaces
                                   {0xFEFF, 0xFEFF},                     // byte order mark
                                   {0xFFFE, 0xFFFF},     // noncharacters, invalid in XML
                                   {0xE0000, 0xE007F}};  // tags

bool is_hidden(char32_t character) {
  for (const Range& range : hidden_ranges) {
    if (character >= range.first && character <= range.last) return true;
  }
  return false;
}

std::string visible(char32_t character) {
  switch (character) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return escape(character < 0x80      ? "\\x%02X"
                    : character < 0x10000 ? "\\u%04X"
                                          : "\\U%06X",
                    static_cast<unsigned>(character));
  }
}

std::string shown(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      out += escape("\\x%02X", static_cast<unsigned char>(text[at++]));
      continue;
    }
    const char32_t character = utf8_character(text, at, length);
    if (is_hidden(character) && !(keep_lines && character == '\n')) {
      out += visible(character);
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out;
}

}  // namespace

std::string shown_text(std::string_view text) { return shown(text, false); }

std::string shown_lines(std::string_view text) { return shown(text, true); }

}  // namespace attnscope
