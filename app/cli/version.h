// The output of attnscope --version: one line, or details of the build and the machine.
#pragma once

#include <string>

namespace attnscope {

/// "attnscope 0.1.0"; with `verbose` also the compiler, the libraries, OpenBLAS's kernels, the
/// instruction sets of our own kernels and the number of threads, as lines or, with `json`, as
/// JSON.
[[nodiscard]] std::string version_text(bool verbose, bool json);

}  // namespace attnscope
