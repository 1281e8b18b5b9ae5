// attnscope --version, in one line or with what the program was built with and runs on.
#pragma once

#include <string>

namespace attnscope {

/// "attnscope 0.1.0"; with `verbose` the compiler, the libraries, OpenBLAS's kernels, the
/// instruction sets of our own kernels and the number of threads, as lines or, with `json`, as
/// JSON.
[[nodiscard]] std::string version_text(bool verbose, bool json);

}  // namespace attnscope
