// attnscope: one binary, a window and subcommands.
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

#include "app/cli/program.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

/// Large blocks go back to the system as soon as they are freed. By itself glibc keeps what has
/// once been freed, up to 32 MiB, for the thread that had it: of 8,100 tokens the activations of a
/// layer are such, and each thread would hold some that nobody uses.
void give_large_blocks_back() {
#ifdef __GLIBC__
  constexpr int kLarge = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, 2 * kLarge);  // as it would be beside it: that is no longer adjusted
#endif
}

/// Under a limit of memory (ulimit -v) the program begins once more, with OpenBLAS told to start no
/// threads of its own: they have no work here, and where a limit leaves them no memory they ask for
/// it for ever, and neither the program's end nor a child of it gets past them. OpenBLAS has
/// started them before main begins.
void leave_blas_without_threads(char** argv) {
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  struct rlimit memory {};
  const bool limited = ::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY;
  if (!limited || std::getenv(kThreads) != nullptr) return;
  ::setenv(kThreads, "1", 1);
  ::execv("/proc/self/exe", argv);  // where it fails, all goes on as it is
}

}  // namespace

int main(int argc, char** argv) {
  leave_blas_without_threads(argv);
  give_large_blocks_back();
  return attnscope::run_command_line(argc, argv);
}
