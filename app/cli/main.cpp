// attnscope: one binary, a window and subcommands.
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

}  // namespace

int main(int argc, char** argv) {
  give_large_blocks_back();
  return attnscope::run_command_line(argc, argv);
}
