// The program's entry point: one binary with a window and subcommands.
#include "app/cli/program.h"
#include "core/platform/openblas.h"
#include "core/platform/process_memory.h"

int main(int argc, char** argv) {
  attnscope::restart_without_blas_threads(argv);
  attnscope::release_large_blocks_when_freed();
  return attnscope::run_command_line(argc, argv);
}
