// Where the source tree and the built program lie.
#pragma once

#include <string>

namespace attnscope {

/// The root of the source tree, without a slash at its end.
[[nodiscard]] std::string source_folder();
/// The program, as it was just built.
[[nodiscard]] std::string built_program();

}  // namespace attnscope
