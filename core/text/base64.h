// Bytes as text (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// Null for anything but base64 with its padding.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace attnscope
