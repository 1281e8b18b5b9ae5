// attnscope formats: the checkpoint formats it reads.
#include <cstdio>

#include "app/cli/subcommand.h"
#include "core/checkpoint/format.h"

namespace attnscope {

Action add_formats(CLI::App& parent, CLI::App*& added) {
  added = parent.add_subcommand("formats", "List the weight file formats");
  return [] {
    for (const CheckpointFormat& format : checkpoint_formats()) {
      std::printf("%-12.*s %.*s\n", static_cast<int>(format.name.size()), format.name.data(),
                  static_cast<int>(format.extensions.size()), format.extensions.data());
    }
    return 0;
  };
}

}  // namespace attnscope
