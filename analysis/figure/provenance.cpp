#include "analysis/figure/provenance.h"

#include <algorithm>

#include "core/shown_text.h"

namespace attnscope {

std::vector<std::pair<std::string, std::string>> provenance_of(const Figure& figure) {
  std::string models;
  for (const std::string& model : figure.models) models += (models.empty() ? "" : ", ") + model;
  std::vector<std::pair<std::string, std::string>> pairs = {
      {"Title", figure.title},
      {"Description", figure.caption},
      {"Command", figure.command},
      {"Models", models},
      {"Software", "attnscope " ATTNSCOPE_VERSION}};
  std::erase_if(pairs, [](const auto& pair) { return pair.second.empty(); });
  // File names may hold control characters, which SVG forbids and terminals interpret.
  for (auto& [name, text] : pairs) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    text = shown_text(text);
  }
  return pairs;
}

}  // namespace attnscope
