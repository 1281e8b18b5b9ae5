// The place of the socket on which an open window listens.
#pragma once

#include <filesystem>

namespace attnscope {

/// "attnscope.sock" in $XDG_RUNTIME_DIR, else in /tmp/attnscope-UID, which is made. Throws
/// Error(io) if the folder is not the user's own or if others may enter it, and Error(unsupported)
/// if the path is too long for a socket.
[[nodiscard]] std::filesystem::path window_socket();

}  // namespace attnscope
