// attnscope help [COMMAND] and attnscope version: the output of --help and --version as commands.
#include <memory>
#include <string>

#include "app/cli/command_table.h"
#include "app/cli/help_text.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/cli/version.h"
#include "app/cli/wrong_usage.h"

namespace attnscope {

Action add_help(CLI::App& parent, CLI::App*& added) {
  auto name = std::make_shared<std::string>();
  added = parent.add_subcommand("help", "Show what a command does, or list the commands");
  added->add_option("COMMAND", *name, "Command that is described; all are listed if none is given")
      ->type_name("COMMAND");
  set_examples(*added, {"attnscope help", "attnscope help spectrum"});
  return [name, &parent] {
    const CLI::App* shown = name->empty() ? &parent : nullptr;
    for (const CLI::App* command : parent.get_subcommands({})) {
      if (command->get_name() == *name) shown = command;
    }
    if (shown == nullptr) throw unknown_command(parent, *name);
    write_to_standard_output(HelpText().make_help(shown, {}, CLI::AppFormatMode::Normal));
    return 0;
  };
}

Action add_version(CLI::App& parent, CLI::App*& added) {
  auto verbose = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  added = parent.add_subcommand("version", "Show the version, and with --verbose what runs here");
  added->add_flag("--verbose", *verbose, "Also show the libraries, kernels and threads");
  add_json_flag(*added, *json);
  set_examples(*added, {"attnscope version", "attnscope version --verbose --json"});
  return [verbose, json] {
    write_to_standard_output(version_text(*verbose, *json) + "\n");
    return 0;
  };
}

}  // namespace attnscope
