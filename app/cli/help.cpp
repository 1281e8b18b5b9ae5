// --help, --version, and attnscope help [COMMAND] and attnscope version, their output as commands.
// Help is aligned and wrapped, with examples.
#include "app/cli/help.h"

#include <CLI/Version.hpp>
#include <QtGlobal>
#include <algorithm>
#include <imgui.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/cli/wrong_usage.h"
#include "app/render/render.h"
#include "core/built_with.h"
#include "core/platform/openblas.h"
#include "core/tensor/blas.h"
#include "core/text/table_cell.h"

namespace attnscope {

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent,
                    std::size_t column) {
  std::istringstream words(text);
  std::string out;
  bool first = true;
  for (std::string word; words >> word; first = false) {
    const std::size_t length = columns_of(word);
    if (!first && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += " ";
      ++column;
    }
    out += word;
    column += length;
  }
  return out;
}

namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kTextColumn = 26;

std::string left_of(const OptionRow& row) {
  std::string left;
  for (const std::string& name : row.names) left += (left.empty() ? "" : ", ") + name;
  if (!row.value.empty() && row.names.front().starts_with("-")) left += " " + row.value;
  if (row.many) left += "…";
  return left;
}

void add_help_row(std::string& out, const std::string& left, const std::string& text) {
  out += "  " + left;
  std::size_t column = 2 + columns_of(left);
  if (column + 2 > kTextColumn) {
    out += "\n";
    column = 0;
  }
  out += std::string(kTextColumn - column, ' ');
  out += wrapped(text, kWidth, kTextColumn, kTextColumn) + "\n";
}

std::vector<LibraryVersion> all_libraries() {
  std::vector<LibraryVersion> libraries = core_libraries();
  libraries.push_back({"CLI11", CLI11_VERSION});
  libraries.push_back({"Dear ImGui", IMGUI_VERSION});
  libraries.push_back({"OpenBLAS", openblas_version()});
  libraries.push_back({"QCustomPlot", plot_library_version()});
  libraries.push_back({"Qt", qVersion()});
  std::ranges::sort(libraries, {}, &LibraryVersion::name);
  return libraries;
}

nlohmann::ordered_json version_json(bool verbose) {
  nlohmann::ordered_json json = {{"version", ATTNSCOPE_VERSION}};
  if (!verbose) return json;
  use_one_blas_thread();  // selects the kernels
  json["compiler"] = compiler_version();
  json["blas_kernels"] = blas_kernels();
  json["simd_targets"] = simd_targets();
  json["threads"] = worker_threads();
  for (const LibraryVersion& library : all_libraries()) {
    json["libraries"][library.name] = library.version;
  }
  return json;
}

}  // namespace

std::string HelpText::make_help(const CLI::App* command, std::string, CLI::AppFormatMode) const {
  const CommandTable table = command_table(*command);
  std::string out = wrapped(table.summary, kWidth, 0, 0) + "\n";
  if (!table.details.empty()) out += "\n" + wrapped(table.details, kWidth, 0, 0) + "\n";
  out += "\nUsage: " + usage_of(table) + "\n";
  if (!table.arguments.empty()) out += "\nArguments:\n";
  for (const OptionRow& row : table.arguments) add_help_row(out, left_of(row), row.text);
  std::string heading;
  for (const CommandTable& subcommand : table.subcommands) {
    if (subcommand.group != heading) out += "\n" + subcommand.group + ":\n";
    heading = subcommand.group;
    add_help_row(out, subcommand.name.substr(table.name.size() + 1), subcommand.summary);
  }
  for (const OptionGroup& group : table.groups) {
    out += "\n" + group.title + ":\n";
    for (const OptionRow& row : group.rows) {
      add_help_row(out, left_of(row), row.text + (row.required ? " (required)" : ""));
    }
  }
  if (!table.examples.empty()) out += "\nExamples:\n";
  for (const std::string& example : table.examples) out += "  " + example + "\n";
  return out;
}

std::string version_text(bool verbose, bool json) {
  const nlohmann::ordered_json all = version_json(verbose);
  if (json) return all.dump(2);
  std::string text = "attnscope " ATTNSCOPE_VERSION;
  if (!verbose) return text;
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
    text += "\n" + name + value;
  };
  line("compiler", all["compiler"]);
  line("OpenBLAS kernels", all["blas_kernels"]);
  // The first target listed is the one in use.
  line("SIMD kernels", all["simd_targets"].empty() ? "none" : all["simd_targets"].front());
  line("threads", std::to_string(all["threads"].get<int>()));
  for (const auto& [name, version] : all["libraries"].items()) line(name, version);
  return text;
}

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
