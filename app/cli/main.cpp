// attnscope: one binary, a window and subcommands. Errors end here.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <vector>

#include "app/cli/subcommand.h"
#include "core/error.h"
#include "core/progress.h"

int main(int argc, char** argv) {
  using namespace attnscope;
  CLI::App app("attnscope: a microscope for transformer attention", "attnscope");
  app.set_version_flag("--version", "attnscope " ATTNSCOPE_VERSION);

  struct Added {
    CLI::App* app;
    Action action;
  };
  std::vector<Added> added;
  for (const Subcommand& subcommand : subcommands()) {
    CLI::App* command = nullptr;
    Action action = subcommand.add(app, command);
    added.push_back({command, std::move(action)});
  }
  app.require_subcommand(0, 1);

  try {
    app.parse(argc, argv);
    for (const Added& command : added) {
      if (command.app->parsed()) return command.action();
    }
    return run_default_subcommand(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const Error& error) {
    std::fprintf(stderr, "attnscope: %s\n", error.what());
    return error.kind() == ErrorKind::usage ? 2 : 1;
  } catch (const Cancelled&) {
    std::fprintf(stderr, "attnscope: cancelled\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attnscope: %s\n", error.what());
    return 1;
  }
}
