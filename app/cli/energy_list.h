// What attnscope energy --list --json writes.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace attnscope {

/// {"networks", "mechanisms", "settings", "constants", "papers"}: what known_networks_as_text says.
[[nodiscard]] nlohmann::ordered_json known_networks_as_json();

}  // namespace attnscope
