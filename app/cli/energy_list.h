// Output of attnscope energy --list.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attnscope {

/// The networks, mechanisms with their parameters, settings, energy tables and published tables.
[[nodiscard]] std::string known_networks_as_text();

/// {"networks", "mechanisms", "settings", "constants", "papers"}, with the content of
/// known_networks_as_text.
[[nodiscard]] nlohmann::ordered_json known_networks_as_json();

}  // namespace attnscope
