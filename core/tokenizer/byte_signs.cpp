#include "core/tokenizer/byte_signs.h"

#include <array>
#include <unordered_map>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/unicode.h"

namespace attnscope {

namespace {

/// Printable bytes keep their code point; the others are mapped to code points from 256 on.
bool prints(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

const std::array<std::string, 256>& signs() {
  static const std::array<std::string, 256> list = [] {
    std::array<std::string, 256> filled;
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte)
      filled[byte] = utf8_of(prints(byte) ? byte : next++);
    return filled;
  }();
  return list;
}

}  // namespace

AlignedText as_byte_signs(const AlignedText& text) {
  AlignedText result;
  for (std::size_t i = 0; i < text.text().size(); ++i) {
    result.append(signs()[static_cast<unsigned char>(text.text()[i])], text.place(i, i + 1));
  }
  return result;
}

std::string bytes_of_signs(std::string_view written) {
  static const std::unordered_map<std::string, char> bytes = [] {
    std::unordered_map<std::string, char> map;
    for (unsigned byte = 0; byte < 256; ++byte) map[signs()[byte]] = static_cast<char>(byte);
    return map;
  }();
  std::string text;
  bool all = true;
  for_each_character(written, [&](char32_t, std::size_t begin, std::size_t end) {
    const auto found = bytes.find(std::string(written.substr(begin, end - begin)));
    all = all && found != bytes.end();
    if (all) text += found->second;
  });
  return all ? text : std::string(written);
}

}  // namespace attnscope
