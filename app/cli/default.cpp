#include <cstdio>

#include "app/cli/subcommand.h"

namespace attnscope {

int run_default_subcommand(int, char**) {
  std::printf("attnscope " ATTNSCOPE_VERSION "; see attnscope --help\n");
  return 0;
}

}  // namespace attnscope
