// Answers to messages: {"ok": true, …}, or an error with its parts.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"

namespace attnscope {

/// Version of the protocol (docs/protocol.md).
inline constexpr int kProtocolVersion = 1;

/// Sends the answer to one message; called once.
using SendAnswer = std::function<void(const nlohmann::json& answer)>;

/// Throws Error(unsupported) unless a message "hello" has this version.
void check_version(const nlohmann::json& hello);

/// The error of a member that is missing or of another kind than `expected`.
[[nodiscard]] Error invalid_member(const nlohmann::json& header, const char* key,
                                   std::string expected);

/// {"error": the whole line, "kind": "usage", "message": …, "expected": …, …}
[[nodiscard]] nlohmann::json answer_of(const Error& error);

/// Throws the error of an answer. Does nothing for other answers.
void throw_error_in(const nlohmann::json& answer);

}  // namespace attnscope
