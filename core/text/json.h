// JSON from strangers. Every text that is not our own is parsed here: what follows may then walk,
// copy and print the value without running out of stack or memory.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace attnscope {

struct JsonLimits {
  int depth = 64;                    ///< objects and lists inside each other
  std::size_t elements = 4'000'000;  ///< values of any kind, together
};

/// Time and memory are linear in the text, but for a logarithm in the keys of one object. Throws
/// Error(damaged): a syntax error, with its place; more depth or elements than `limits`; a key that
/// an object has twice, since readers disagree about which counts.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const JsonLimits& limits = {});

/// The same with the members of objects in the order of the text.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text,
                                                        const JsonLimits& limits = {});

/// `text` as JSON if it is that within the default limits, else null: for what a file says of
/// itself in passing.
[[nodiscard]] nlohmann::json parse_json_or_null(std::string_view text);

}  // namespace attnscope
