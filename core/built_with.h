// Versions and instruction sets of the build and this machine, for bug reports.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct LibraryVersion {
  std::string name;     ///< "HDF5"
  std::string version;  ///< loaded version if the library reports it, else that of its headers
};

/// Compiler and version: "GCC 12.2.0", "Clang 14.0.6".
[[nodiscard]] std::string compiler_version();

/// Versions of the libraries that core links, by name, without OpenBLAS (core/platform/openblas.h).
[[nodiscard]] std::vector<LibraryVersion> core_libraries();

/// Highway targets that were compiled and that this processor supports, best first ("AVX3", "AVX2",
/// …). The first one is used.
[[nodiscard]] std::vector<std::string> simd_targets();

/// Number of worker threads.
[[nodiscard]] int worker_threads();

}  // namespace attnscope
