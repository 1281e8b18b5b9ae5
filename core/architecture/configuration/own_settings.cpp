#include <algorithm>
#include <cctype>

#include "core/architecture/configuration/neighbour_config.h"

namespace attnscope {

namespace {

struct Setting {
  std::string_view key;
  std::string_view member;
};

constexpr Setting kSettings[] = {
    {"n_head", "heads"},          {"n_heads", "heads"},         {"num_heads", "heads"},
    {"nhead", "heads"},           {"nheads", "heads"},          {"num_attention_heads", "heads"},
    {"activation", "activation"}, {"hidden_act", "activation"}, {"norm_first", "norm_position"},
};

/// True for the name of a setting of a different model than the one that is read.
bool is_of_another(std::string_view name) {
  constexpr std::string_view others[] = {"decoder", "teacher", "text", "critic", "discriminator"};
  return std::ranges::any_of(
      others, [&](std::string_view other) { return name.find(other) != std::string_view::npos; });
}

/// Value of the member as for apply_override; empty if unknown.
std::string value_of(std::string_view member, const std::string& text) {
  if (member == "heads") {
    const bool number = !text.empty() && text.size() < 5 && text.front() != '0' &&
                        std::all_of(text.begin(), text.end(), [](char c) {
                          return std::isdigit(static_cast<unsigned char>(c));
                        });
    return number ? text : "";
  }
  if (member == "activation") return text == "gelu" || text == "relu" || text == "silu" ? text : "";
  return text == "true" ? "pre" : text == "false" ? "post" : "";
}

}  // namespace

void add_own_settings(const Checkpoint& checkpoint, NeighbourConfig& config) {
  std::map<std::string, std::string> found;  // by member; empty if contradictory or unknown
  for (const auto& [name, text] : checkpoint.metadata()) {
    const std::string_view key = std::string_view(name).substr(name.rfind('.') + 1);
    const auto setting = std::ranges::find(kSettings, key, &Setting::key);
    if (setting == std::end(kSettings) || is_of_another(name)) continue;
    const std::string value = value_of(setting->member, text);
    const auto [place, first] = found.emplace(setting->member, value);
    if (!first && place->second != value) place->second.clear();
  }
  for (const auto& [member, value] : found) {
    if (value.empty() || !config.values.emplace(member, value).second) continue;
    if (config.file.empty()) config.file = checkpoint.path();
  }
}

}  // namespace attnscope
