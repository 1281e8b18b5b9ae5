#include "core/architecture/class_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "core/error.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

constexpr std::size_t kLongestNames = std::size_t{16} << 20;  // bytes

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream read{std::string(text)};
  for (std::string line; std::getline(read, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

bool is_same_name(std::string_view a, std::string_view b) {
  const auto small = [](unsigned char sign) { return std::tolower(sign); };
  return std::ranges::equal(a, b, {}, small, small);
}

}  // namespace

std::vector<std::string> class_names_of(std::string_view data_set) {
  for (const ClassNameList& list : class_name_lists()) {
    if (is_same_name(list.data_set, data_set)) return lines_of(list.text);
  }
  return {};
}

std::vector<std::string> names_referred_to(const std::string& labels) {
  if (!labels.starts_with('@')) return class_names_of(labels);
  const std::filesystem::path path = labels.substr(1);
  std::error_code ignored;
  std::vector<std::string> names;
  if (std::filesystem::is_directory(path, ignored)) {
    for (const std::filesystem::path& one : folders_in(path)) {
      names.push_back(one.filename().string());
    }
  } else {
    names = lines_of(read_file(path, kLongestNames));
  }
  if (names.empty()) {
    throw Error(ErrorKind::damaged, "no names of classes were found")
        .in_file(path)
        .expected("a file with a name a line, or a folder with a folder per class");
  }
  return names;
}

}  // namespace attnscope
