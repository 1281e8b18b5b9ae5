#include "app/cli/wrong_usage.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/command_table.h"
#include "core/nearest_name.h"

namespace attnscope {

namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

Error unknown_command(const CLI::App& program, const std::string& word) {
  Error error(ErrorKind::usage, "there is no command '" + word + "'");
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) {
    return error.remedy("to look at a file: attnscope inspect FILE, or attnscope gui FILE");
  }
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  const std::string nearest = nearest_name(word, names);
  return error.remedy(nearest.empty() ? "attnscope --help lists the commands"
                                      : "did you mean attnscope " + nearest + "?");
}

Error unknown_option(const CommandTable& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& row : group.rows) {
      names.insert(names.end(), row.names.begin(), row.names.end());
    }
  }
  Error error(ErrorKind::usage, "there is no option " + name);
  // Without the dashes: they are no sign of likeness.
  std::vector<std::string> bare;
  bare.reserve(names.size());
  for (const std::string& known : names) bare.push_back(known.substr(known.find_first_not_of('-')));
  const std::size_t begin = name.find_first_not_of('-');
  const std::string nearest =
      nearest_name(begin == std::string::npos ? name : name.substr(begin), bare);
  const std::string help = command.name + " --help lists the options";
  if (nearest.empty()) return error.remedy(help);
  return error.remedy("did you mean " + (nearest.size() > 1 ? "--" : std::string("-")) + nearest +
                      "? " + help);
}

/// The first word beyond as many as an argument takes: CLI11 gives a list all that comes, and only
/// counts it then. Empty if there is none.
std::string surplus_argument(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const auto most = static_cast<std::size_t>(option->get_items_expected_max());
    if (option->get_positional() && option->results().size() > most) {
      return option->results()[most];
    }
  }
  return {};
}

}  // namespace

Error wrong_usage(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> given = program.get_subcommands();
  const CLI::App& command = given.empty() ? program : *given.front();
  const CommandTable table = command_table(command);
  // What was not understood comes before what is missing for it.
  const std::vector<std::string> rest = program.remaining(true);
  const auto option = std::find_if(rest.begin(), rest.end(), is_option);
  if (given.empty() && !rest.empty() && !is_option(rest.front())) {
    return unknown_command(program, rest.front());
  }
  if (option != rest.end()) return unknown_option(table, *option);
  const std::string help = table.name + " --help shows how";
  const std::string surplus = rest.empty() ? surplus_argument(command) : rest.front();
  if (!surplus.empty()) {
    return Error(ErrorKind::usage, "one argument too many")
        .expected(usage_of(table))
        .found(surplus)
        .remedy(help);
  }
  return Error(ErrorKind::usage, error.what()).remedy(help);
}

}  // namespace attnscope
