// Runs a reader that damaged files may crash or hang in a child process with limits, so the program
// gets an error instead.
#pragma once

#include <functional>
#include <string>

#include "core/platform/limited_child.h"

namespace attnscope {

/// Runs `read()` in a child process and returns its result. The child starts while no thread is
/// inside the HDF5 library. `read` may only call that library and our own code that takes no locks.
/// Its writes to memory are lost, except to SharedBytes. Throws the Error that `read` throws;
/// Error(damaged) if the child crashed, reached a limit or ended early (memory is not limited under
/// address and thread sanitizers); Error(io) if the process cannot be started.
[[nodiscard]] std::string read_in_child(const std::function<std::string()>& read,
                                        const ChildLimits& limits = {});

}  // namespace attnscope
