// attnscope man: the manual page, made from the same tables as --help.
#include <cctype>
#include <string>

#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"

namespace attnscope {

namespace {

/// Plain text escaped for roff: hyphens stay copyable, and no line is taken for a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '.' && (out.empty() || out.back() == '\n')) {
      out += "\\&.";
    } else {
      out += c;
    }
  }
  return out;
}

std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void add_rows(std::string& page, const std::vector<OptionRow>& rows) {
  for (const OptionRow& row : rows) {
    std::string names;
    for (const std::string& name : row.names) {
      names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
    }
    if (!row.value.empty() && row.names.front().starts_with("-")) {
      names += " \\fI" + roff(row.value) + "\\fR";
    }
    if (row.many) names += "…";
    page += ".TP\n" + names + "\n" + roff(row.text) + "\n";
  }
}

void add_command(std::string& page, const CommandTable& command) {
  page += ".SS \"" + roff(command.name) + "\"\n" + roff(command.summary) + ".\n";
  if (!command.details.empty()) page += ".PP\n" + roff(command.details) + "\n";
  page += ".PP\n.B " + roff(usage_of(command)) + "\n";
  add_rows(page, command.arguments);
  for (const OptionGroup& group : command.groups) {
    if (group.title != "Help") add_rows(page, group.rows);
  }
  if (command.examples.empty()) return;
  page += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  for (const std::string& example : command.examples) page += roff(example) + "\n";
  page += ".RE\n.fi\n";
}

std::string manual_page(const CommandTable& program) {
  std::string page =
      ".\\\" Made by attnscope man from the tables that --help shows.\n"
      ".TH ATTNSCOPE 1 \"\" \"attnscope " ATTNSCOPE_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nattnscope \\- a microscope for transformer attention\n"
      ".SH SYNOPSIS\n.B attnscope\n.RI [ COMMAND ]\n.RI [ OPTION …]\n.RI [ ARGUMENT …]\n"
      ".SH DESCRIPTION\n"
      "Attnscope opens weight files of transformers, runs the attention they were trained with or\n"
      "another one over the same weights, and shows what that attention is: its maps, its rank,\n"
      "its position biases, and what it costs. Without a command it opens the window.\n"
      ".SH OPTIONS\n";
  for (const OptionGroup& group : program.groups) add_rows(page, group.rows);
  std::string group;
  for (const CommandTable& command : program.subcommands) {
    if (command.group != group) page += ".SH \"COMMANDS: " + capitals(command.group) + "\"\n";
    group = command.group;
    add_command(page, command);
  }
  page +=
      ".SH \"EXIT STATUS\"\n.TP\n0\nDone.\n.TP\n1\nA file could not be read or written, or not all "
      "of the output reached standard output.\n.TP\n2\nWrong usage.\n"
      ".SH ENVIRONMENT\n.TP\n.B ATTNSCOPE_SAMPLE_DATA\nThe folder of the sample models and "
      "inputs, where it is not the one installed.\n"
      ".SH \"SEE ALSO\"\nThe manual in the window (F1), and the files in "
      "/usr/share/doc/attnscope.\n";
  return page;
}

}  // namespace

Action add_man(CLI::App& parent, CLI::App*& added) {
  added = parent.add_subcommand("man", "Write the manual page (roff)");
  set_examples(*added, {"attnscope man >attnscope.1; man ./attnscope.1"});
  return [&parent] {
    write_to_standard_output(manual_page(command_table(parent)));
    return 0;
  };
}

}  // namespace attnscope
