#include "app/cli/subcommand.h"

namespace attnscope {

// One line a subcommand, declared where it is written.
Action add_formats(CLI::App& parent, CLI::App*& added);

std::span<const Subcommand> subcommands() {
  static constexpr Subcommand list[] = {
      {add_formats},
  };
  return list;
}

}  // namespace attnscope
