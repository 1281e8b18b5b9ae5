// The version of the program's own HDF5 files, whose root has the attribute `format`
// ("attnscope-trace").
#pragma once

#include <cstdint>

namespace attnscope {

/// Root attribute `format_version` of the files that are written. Files of other programs may lack
/// it; files with another version are refused by open_checkpoint. It is raised when a file no
/// longer means what it meant before.
inline constexpr std::int64_t kFormatVersion = 1;

}  // namespace attnscope
