// attnscope paper: the papers' equations, tables and figures with the commands that show them.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/papers/papers.h"
#include "app/cli/command_table.h"
#include "app/cli/help.h"
#include "app/cli/subcommand.h"
#include "app/cli/table_format.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

constexpr std::size_t kTextWidth = 100, kIndent = 4;

Report paper_names_report() {
  return report_on(
      papers(), {{{.name = "name", .title = "name", .left = true}, &Paper::name},
                 {{.name = "items", .title = "items"},
                  [](const Paper& paper) { return static_cast<std::int64_t>(paper.items.size()); }},
                 {{.name = "title", .title = "paper", .left = true}, &Paper::title}});
}

/// Every item: its place and subject, its commands, and the remarks on it, wrapped.
std::string paper_as_text(const Paper& paper) {
  std::string text = paper.title +
                     "\nIts items and the commands that show them on the sample models; "
                     "run them in sample_data\n";
  for (const PaperItem& item : paper.items) {
    text += "\n" + item.place + ": " + item.title + "\n";
    const std::string indent(kIndent, ' ');
    // Commands are not wrapped, so that they can be copied.
    for (const std::string& command : item.commands) text += indent + command + "\n";
    for (const std::string& remark : remarks_on(item)) {
      text += indent + wrapped(remark, kTextWidth, kIndent, kIndent) + "\n";
    }
  }
  return text;
}

void print_paper(const std::string& name, TableFormat format) {
  if (name.empty()) {
    const auto report = [] { return paper_names_report(); };
    return print_results(
        format, {}, [&] { return report_as_text(report()); },
        [&] { return report_as_json(report()); }, report);
  }
  const Paper& paper = find_paper(name);
  print_results(
      format, {}, [&] { return paper_as_text(paper); },
      [&] {
        return nlohmann::ordered_json{{"name", paper.name},
                                      {"title", paper.title},
                                      {"items", report_as_json(paper_report(paper))}};
      },
      [&] { return paper_report(paper); });
}

struct PaperArguments {
  std::string name;
  TableFormat format = TableFormat::text;
};

}  // namespace

Action add_paper(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<PaperArguments>();
  added = parent.add_subcommand("paper",
                                "List a paper's figures with their commands\n"
                                "Each equation, table and figure has the commands that show it on "
                                "the sample models, what is left out and why, and measurements "
                                "that contradict the paper. Without a name the papers are listed.");
  added->add_option("PAPER", arguments->name, "The paper")
      ->type_name(name_list(paper_files(), &PaperFile::name, "|"));
  add_format_options(*added, arguments->format, "a row for each equation, table or figure");
  set_examples(*added, {"attnscope paper", "attnscope paper daft",
                        "attnscope paper adder --format markdown"});
  return [arguments] {
    print_paper(arguments->name, arguments->format);
    return 0;
  };
}

}  // namespace attnscope
