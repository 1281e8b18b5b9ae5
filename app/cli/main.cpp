// The program's entry point: one binary with a window and subcommands.
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

#include "app/cli/program.h"
#include "core/platform/process_memory.h"

namespace {

/// Restarts the program under a memory limit (ulimit -v) with OpenBLAS told to start no threads of
/// its own. The threads have no work here. If a limit leaves them no memory they retry the
/// allocation forever, which blocks the program's exit and its child processes. OpenBLAS starts
/// them before main begins, hence the restart.
void leave_blas_without_threads(char** argv) {
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  struct rlimit memory {};
  const bool limited = ::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY;
  if (!limited || std::getenv(kThreads) != nullptr) return;
  ::setenv(kThreads, "1", 1);
  ::execv("/proc/self/exe", argv);  // a failed restart leaves the program unchanged
}

}  // namespace

int main(int argc, char** argv) {
  leave_blas_without_threads(argv);
  attnscope::release_large_blocks_when_freed();
  return attnscope::run_command_line(argc, argv);
}
