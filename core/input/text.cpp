#include "core/input/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "core/error.h"
#include "core/file/mapped_file.h"
#include "core/utf8.h"

namespace attnscope {

bool is_text_file_name(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return extension == ".txt" || extension == ".text" || extension == ".md";
}

Text read_text(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  if (file->size() > longest_text) {
    throw Error(ErrorKind::unsupported, "the text is too long")
        .in_file(path)
        .expected("at most " + std::to_string(longest_text) + " bytes")
        .found(std::to_string(file->size()));
  }
  if (file->size() == 0) throw Error(ErrorKind::usage, "the text is empty").in_file(path);
  const auto* const bytes = reinterpret_cast<const char*>(file->bytes().data());
  return read_unchanged(*file, [&] { return Text{std::string(bytes, file->size()), {}}; });
}

std::vector<std::size_t> character_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  std::size_t at = 0;
  while (at < text.size()) {
    starts.push_back(at);
    at += std::max<std::size_t>(utf8_length(text, at), 1);
  }
  starts.push_back(text.size());
  return starts;
}

std::size_t first_invalid_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = utf8_length(bytes, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

Text part_of_text(const Text& text, std::int64_t first, std::int64_t last) {
  const std::vector<std::size_t> starts = character_starts(text.characters);
  const std::int64_t count = std::ssize(starts) - 1;
  if (first < 0 || first >= last || first >= count) {
    throw Error(ErrorKind::usage, "the text has no such part")
        .expected("FIRST-LAST within 0-" + std::to_string(count) + ", in characters")
        .found(std::to_string(first) + "-" + std::to_string(last));
  }
  const std::size_t begin = starts[static_cast<std::size_t>(first)];
  const std::size_t end = starts[static_cast<std::size_t>(std::min(last, count))];
  return {text.characters.substr(begin, end - begin), {}};
}

Text parse_token_ids(std::string_view list) {
  constexpr std::string_view between = ", \t\r\n";
  Text text;
  while (true) {
    const std::size_t begin = list.find_first_not_of(between);
    if (begin == std::string_view::npos) break;
    list.remove_prefix(begin);
    const std::string_view word = list.substr(0, list.find_first_of(between));
    std::int64_t id = 0;
    const auto [stop, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (problem != std::errc() || stop != word.data() + word.size() || id < 0) {
      throw Error(ErrorKind::usage, "this is not a token id")
          .expected("whole numbers from 0 on, such as ids:15,3,42")
          .found("'" + std::string(word.substr(0, 40)) + "'");
    }
    text.ids.push_back(id);
    list.remove_prefix(word.size());
  }
  if (text.ids.empty()) {
    throw Error(ErrorKind::usage, "the list of token ids is empty").expected("ids:15,3,42");
  }
  return text;
}

}  // namespace attnscope
