// Decoding of base64 (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

/// The decoded bytes; nullopt unless `text` is valid base64 with padding.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace attnscope
