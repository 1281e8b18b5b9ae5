// Sends messages to the window that is open.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace attnscope {

/// Sends a message without arrays to the socket of a window and waits for the answer; nothing if no
/// window listens. Throws the error of the answer, and Error(io) without an answer within 30 s.
[[nodiscard]] std::optional<nlohmann::json> ask_window(const std::filesystem::path& socket,
                                                       const nlohmann::json& message);

}  // namespace attnscope
