#include "core/architecture/class_names.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <sstream>

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
  const std::filesystem::path file = labels.substr(1);
  std::vector<std::string> names = lines_of(read_file(file, kLongestNames));
  if (names.empty()) {
    throw Error(ErrorKind::damaged, "the file holds no names of classes")
        .in_file(file)
        .expected("a name a line");
  }
  return names;
}

}  // namespace attnscope
