#include "analysis/intervention/intervention.h"

#include <algorithm>

#include "core/error.h"

namespace attnscope {

namespace {

using Indices = std::vector<std::int64_t>;

bool is_among(const Indices& list, std::int64_t index) {
  return list.empty() || std::ranges::find(list, index) != list.end();
}

std::string list_in_words(const Indices& list, const std::string& what) {
  if (list.empty()) return "all " + what + "s";
  std::string words = what + (list.size() > 1 ? "s" : "");
  for (std::size_t i = 0; i < list.size(); ++i) {
    words += (i > 0 ? ", " : " ") + std::to_string(list[i]);
  }
  return words;
}

void check_indices(const Indices& list, std::int64_t count, const std::string& what,
                   const char* prefix) {
  for (const std::int64_t index : list) {
    if (index >= 0 && index < count) continue;
    throw Error(ErrorKind::usage, "the model has no such " + what)
        .about(prefix + what + "s")
        .expected("0 to " + std::to_string(count - 1))
        .found(std::to_string(index));
  }
}

}  // namespace

bool HeadChoice::has_layer(std::int64_t layer) const { return is_among(layers, layer); }

bool HeadChoice::has_head(std::int64_t head) const { return is_among(heads, head); }

std::string in_words(const HeadChoice& choice) {
  return list_in_words(choice.layers, "layer") + ", " + list_in_words(choice.heads, "head");
}

void check_choice(const HeadChoice& choice, std::int64_t layers, std::int64_t heads,
                  const char* prefix) {
  check_indices(choice.layers, layers, "layer", prefix);
  check_indices(choice.heads, heads, "head", prefix);
}

}  // namespace attnscope
