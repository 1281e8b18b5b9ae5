// attnscope without a subcommand: the first minute, softmax next to adder on one image, with
// nothing to configure.
#include "app/cli/gui.h"
#include "app/cli/subcommand.h"

namespace attnscope {

int run_default_subcommand(int, char**) {
  GuiOptions options;
  options.samples_if_empty = true;
  return run_gui(options);
}

}  // namespace attnscope
