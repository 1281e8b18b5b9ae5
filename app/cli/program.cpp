#include "app/cli/program.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "app/cli/help.h"
#include "app/cli/standard_streams.h"
#include "app/cli/wrong_usage.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/text/failure.h"

namespace attnscope {

namespace {

/// True if the command line begins with a file instead of a command: `attnscope vit.pt cat.png`.
bool begins_with_file(const CLI::App& program, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().empty() || arguments.front().front() == '-') {
    return false;
  }
  const std::string& word = arguments.front();
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == word) return false;
  }
  std::error_code ignored;
  return std::filesystem::exists(word, ignored) ||
         std::filesystem::exists(word.substr(0, word.rfind('@')), ignored);
}

/// True if the first word is not a command. Everything after it is then meaningless, --help
/// included.
bool is_lost(const CLI::App& program) {
  const std::vector<std::string> rest = program.remaining(true);
  return program.get_subcommands().empty() && !rest.empty() && rest.front().front() != '-';
}

int parse_and_run(int argc, char** argv) {
  Program program = make_program();
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (begins_with_file(*program.app, arguments)) arguments.insert(arguments.begin(), "gui");
  try {
    // CLI11 expects the arguments in reverse order.
    program.app->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 || is_lost(*program.app)) throw wrong_usage(*program.app, error);
    std::ostringstream asked;  // the help or version text
    program.app->exit(error, asked);
    write_to_standard_output(asked.str());
    return 0;
  }
  for (const Program::Command& command : program.commands) {
    if (!command.app->parsed()) continue;
    try {
      return command.action();
    } catch (Error& error) {
      explain_model(*command.app, error);
      throw;
    }
  }
  return run_default_subcommand(argc, argv);
}

int reported(const std::string& line, int status) {
  std::fprintf(stderr, "attnscope: %s\n", line.c_str());
  return status;
}

}  // namespace

Program make_program() {
  Program program;
  program.app = std::make_unique<CLI::App>(
      "A microscope for transformer attention: without a command it opens the window", "attnscope");
  CLI::App& app = *program.app;
  app.formatter(std::make_shared<HelpText>());
  app.set_help_flag("-h,--help", "Show this and end")->group("Help");
  // These come before the version flag, because CLI11 reads flags in this order.
  const auto verbose = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  CLI::Option* const more = app.add_flag(
      "--verbose", *verbose, "With --version: also show the libraries, kernels and threads");
  CLI::Option* const as_json = app.add_flag("--json", *json, "With --version: write JSON");
  CLI::Option* const version = app.set_version_flag(
      "-V,--version", [verbose, json] { return version_text(*verbose, *json); },
      "Show the version and end");
  version->group("Help");
  more->group("Help")->needs(version);
  as_json->group("Help")->needs(version);
  for (const Subcommand& subcommand : subcommands()) {
    CLI::App* command = nullptr;
    Action action = subcommand.add(app, command);
    command->group(subcommand.group);
    program.commands.push_back({command, std::move(action)});
  }
  app.require_subcommand(0, 1);
  return program;
}

int run_command_line(int argc, char** argv) {
  try {
    const int status = parse_and_run(argc, argv);
    check_standard_output();
    return status;
  } catch (const Error& error) {
    return reported(error.what(), error.kind() == ErrorKind::usage ? 2 : 1);
  } catch (const Cancelled&) {
    return reported("cancelled", 1);
  } catch (const std::exception& error) {
    return reported(as_error(error).what(), 1);
  }
}

}  // namespace attnscope
