// Parser of untrusted JSON. All external JSON is parsed here, so its values can be traversed,
// copied and printed without running out of stack or memory.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace attnscope {

struct JsonLimits {
  int depth = 64;                    ///< nesting depth of objects and lists
  std::size_t elements = 4'000'000;  ///< total number of values of any kind
};

/// Parses JSON; Infinity, -Infinity and NaN, which Python writes, become texts. Time and memory are
/// linear in the text, apart from a logarithmic factor in the number of keys of an object. Throws
/// Error(damaged) for a syntax error, with its position; for more depth or elements than `limits`;
/// and for duplicate keys, which readers treat differently.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const JsonLimits& limits = {});

/// Like parse_json, but keeps the members of objects in the order of the text.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text,
                                                        const JsonLimits& limits = {});

/// `text` parsed as JSON within the default limits, or null if that fails. For optional metadata of
/// files.
[[nodiscard]] nlohmann::json parse_json_or_null(std::string_view text);

}  // namespace attnscope
