// What the program was built with, and which of it runs here: for reports of faults.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct LibraryVersion {
  std::string name;     ///< "HDF5"
  std::string version;  ///< of what is loaded, where the library says; of its headers otherwise
};

/// "GCC 12.2.0", "Clang 14.0.6".
[[nodiscard]] std::string compiler_version();

/// Of what core links, by name.
[[nodiscard]] std::vector<LibraryVersion> core_libraries();

/// Highway's instruction sets that were compiled and that this processor has, best first: the first
/// one runs ("AVX3", "AVX2", …).
[[nodiscard]] std::vector<std::string> simd_targets();

/// Threads that work at once.
[[nodiscard]] int worker_threads();

}  // namespace attnscope
