// Texts, bytes and data in a page of HTML, so that nothing that comes from a file becomes markup.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

/// `text` as the content of an element or of a quoted attribute: < > & " ' are character
/// references, and control characters, bidirectional marks and invalid UTF-8 are made visible
/// (shown_text).
[[nodiscard]] std::string html_escaped(std::string_view text);

/// Base64 with padding (RFC 4648, Section 4).
[[nodiscard]] std::string base64(std::string_view bytes);

/// The data URI of a PNG's bytes.
[[nodiscard]] std::string png_uri(std::string_view png);

/// JSON in one line for an element <script type="application/json">, which no text inside can end:
/// < > & are written as \u003c, \u003e, \u0026. Invalid UTF-8 becomes U+FFFD. Numbers have all
/// digits that tell them from others.
[[nodiscard]] std::string json_in_script(const nlohmann::ordered_json& json);

/// `pattern` in which each {{name}} is replaced by the value of that name, once: values are not
/// searched. Throws std::logic_error for a name without a value, an error of the program.
[[nodiscard]] std::string filled_in(std::string_view pattern,
                                    const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace attnscope
