#include "app/cli/index_list.h"

#include <charconv>
#include <sstream>

#include "app/cli/command_table.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMost = 1'000'000;

std::int64_t index_of(const std::string& text, const std::string& list, const char* option) {
  std::int64_t index = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (failure != std::errc() || end != text.data() + text.size() || index < 0) {
    throw Error(ErrorKind::usage, "the selection is not valid")
        .about(option)
        .expected("all, or indices from 0 such as 0,2-4")
        .found(list);
  }
  return index;
}

}  // namespace

void add_layers_option(CLI::App& command, std::string& layers) {
  add_value_option(command, "--layers", layers, "Layers: all, or indices from 0 such as 0,2-4",
                   "N,…");
}

void add_heads_option(CLI::App& command, std::string& heads) {
  add_value_option(command, "--heads", heads, "Heads: all, or indices from 0 such as 0,2-4", "N,…");
}

void check_heads(const std::vector<std::int64_t>& heads, std::int64_t known) {
  for (const std::int64_t head : heads) {
    if (head < known) continue;
    throw Error(ErrorKind::usage, "no layer has this head")
        .about("--heads")
        .expected(known > 0 ? "0 to " + std::to_string(known - 1) : "a layer with heads")
        .found(std::to_string(head))
        .remedy("--model-heads sets the number of heads if the file does not hold it");
  }
}

std::vector<std::int64_t> index_list(const std::string& text, const char* option) {
  std::vector<std::int64_t> indices;
  if (text == "all") return indices;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-', 1);
    const std::int64_t first = index_of(part.substr(0, dash), text, option);
    const std::int64_t last =
        dash == std::string::npos ? first : index_of(part.substr(dash + 1), text, option);
    if (last < first || last - first + std::ssize(indices) > kMost) {
      throw Error(ErrorKind::usage, "the range is empty or too long").about(option).found(part);
    }
    for (std::int64_t index = first; index <= last; ++index) indices.push_back(index);
  }
  if (indices.empty() || text.back() == ',') (void)index_of("", text, option);
  return indices;
}

}  // namespace attnscope
