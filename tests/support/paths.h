// Paths of the source tree and of the built program.
#pragma once

#include <string>

namespace attnscope {

/// The root of the source tree, without a trailing slash.
[[nodiscard]] std::string source_folder();
/// The program of this build.
[[nodiscard]] std::string built_program();

}  // namespace attnscope
