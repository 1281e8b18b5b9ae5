// attnscope completion: scripts with which shells complete attnscope's commands.
#include <algorithm>
#include <memory>
#include <string>

#include "analysis/figure/figure_command.h"
#include "app/cli/command_table.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "core/error.h"

namespace attnscope {

namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string bare_name(const CommandTable& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

/// All options of a command, in all their spellings.
std::vector<std::string> option_names(const CommandTable& command) {
  std::vector<std::string> names;
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& row : group.rows) {
      names.insert(names.end(), row.names.begin(), row.names.end());
    }
  }
  return names;
}

std::vector<std::string> command_names(const CommandTable& program) {
  std::vector<std::string> names;
  for (const CommandTable& command : program.subcommands) names.push_back(bare_name(command));
  return names;
}

// --- bash -------------------------------------------------------------------------------------

/// The bash expression that completes the option's value: `compgen` with words, folders or files.
std::string bash_values(const OptionRow& row) {
  const std::vector<std::string> words = known_values(row);
  if (!words.empty()) return "compgen -W '" + joined(words, " ") + "' -- \"$word\"";
  if (row.value == "DIR" || row.names.front() == "DIR") return "compgen -d -- \"$word\"";
  if (takes_file(row)) return "compgen -f -- \"$word\"";
  return ":";
}

std::string bash_cases(const CommandTable& command) {
  std::string out;
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& row : group.rows) {
      if (row.value.empty()) continue;
      out += "        " + joined(row.names, "|") + ") COMPREPLY=($(" + bash_values(row) +
             ")); return ;;\n";
    }
  }
  return out;
}

std::string bash_script(const CommandTable& program) {
  std::string out =
      "# Completion of attnscope for bash: source it, or install it into\n"
      "# /usr/share/bash-completion/completions.\n"
      "_attnscope() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local IFS=$' \\t\\n'\n"
      "  COMPREPLY=()\n"
      "  compopt -o filenames 2>/dev/null\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '" +
      joined(command_names(program), " ") + " " + joined(option_names(program), " ") +
      "' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const CommandTable& command : program.subcommands) {
    out += "    " + bare_name(command) + ")\n";
    if (const std::string cases = bash_cases(command); !cases.empty()) {
      out += "      case $before in\n" + cases + "      esac\n";
    }
    out += "      if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '" +
           joined(option_names(command), " ") +
           "' -- \"$word\"))\n      else\n        COMPREPLY=($(";
    // Names complete the first argument only in its own position.
    const bool names_first =
        !command.arguments.empty() && !known_values(command.arguments.front()).empty();
    if (names_first) {
      out += "((COMP_CWORD == 2)) && " + bash_values(command.arguments.front());
      if (command.arguments.size() > 1) out += " || " + bash_values(command.arguments[1]);
    } else {
      out += command.arguments.empty() ? ":" : bash_values(command.arguments.front());
    }
    out += "))\n      fi ;;\n";
  }
  return out + "  esac\n}\ncomplete -F _attnscope attnscope\n";
}

// --- zsh --------------------------------------------------------------------------------------

/// Description text escaped for an _arguments specification.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const OptionRow& row) {
  const std::vector<std::string> words = known_values(row);
  if (!words.empty() && takes_file(row)) return "{compadd " + joined(words, " ") + "; _files}";
  if (!words.empty()) return "(" + joined(words, " ") + ")";
  if (row.value == "DIR") return "_files -/";
  return takes_file(row) ? "_files" : " ";
}

std::string zsh_options(const CommandTable& command) {
  std::string out;
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& row : group.rows) {
      for (const std::string& name : row.names) {
        std::string spec = "*" + name + "[" + zsh_text(row.text) + "]";
        if (!row.value.empty()) spec += ":" + zsh_text(row.value) + ":" + zsh_action(row);
        out += " \\\n        " + in_single_quotes(spec);
      }
    }
  }
  return out;
}

/// Ends the list of the commands under one heading and offers them. The tag, the heading without
/// spaces, lets zsh show them as a group of their own.
std::string zsh_group(const std::string& heading) {
  std::string tag = heading;
  std::ranges::replace(tag, ' ', '-');
  return "    )\n    _describe -t " + tag + " " + in_single_quotes(heading) + " commands\n";
}

std::string zsh_script(const CommandTable& program) {
  std::string out =
      "#compdef attnscope\n# Completion of attnscope for zsh: install it as _attnscope into a "
      "folder of $fpath.\n_attnscope() {\n  local curcontext=$curcontext state line\n"
      "  if ((CURRENT == 2)); then\n    local -a commands\n";
  std::string group;
  for (const CommandTable& command : program.subcommands) {
    if (command.group != group) out += (group.empty() ? "" : zsh_group(group)) + "    commands=(\n";
    group = command.group;
    out += "      " + in_single_quotes(bare_name(command) + ":" + zsh_text(command.summary)) + "\n";
  }
  out += zsh_group(group) + "    _arguments" + zsh_options(program) +
         "\n    return\n  fi\n  local command=$words[2]\n" +
         "  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandTable& command : program.subcommands) {
    out += "    " + bare_name(command) + ")\n      _arguments -s" + zsh_options(command);
    for (const OptionRow& row : command.arguments) {
      const std::string spec =
          std::string(row.many ? "*" : "") + ":" + row.names.front() + ":" + zsh_action(row);
      out += " \\\n        " + in_single_quotes(spec);
    }
    out += " ;;\n";
  }
  return out + "  esac\n}\n_attnscope \"$@\"\n";
}

// --- fish -------------------------------------------------------------------------------------

std::string fish_option(const std::string& name) {
  return name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
}

std::string fish_script(const CommandTable& program) {
  const auto text = [](const std::string& words) { return in_single_quotes(words, "\\'"); };
  std::string out =
      "# Completion of attnscope for fish: install it into vendor_completions.d or\n"
      "# ~/.config/fish/completions.\n";
  for (const CommandTable& command : program.subcommands) {
    out += "complete -c attnscope -f -n __fish_use_subcommand -a " + bare_name(command) + " -d " +
           text(command.summary) + "\n";
  }
  for (const CommandTable& command : program.subcommands) {
    const std::string when =
        "complete -c attnscope -n '__fish_seen_subcommand_from " + bare_name(command) + "'";
    bool files = false;
    for (const OptionRow& row : command.arguments) {
      const std::vector<std::string> words = known_values(row);
      if (!words.empty()) out += when + " -a '" + joined(words, " ") + "'\n";
      files |= takes_file(row);
    }
    if (!files) out += when + " -f\n";
    for (const OptionGroup& group : command.groups) {
      for (const OptionRow& row : group.rows) {
        out += when;
        for (const std::string& name : row.names) out += fish_option(name);
        if (!row.value.empty()) {
          const std::vector<std::string> words = known_values(row);
          if (!words.empty()) {
            out += " -x -a '" + joined(words, " ") + "'";
          } else {
            out += takes_file(row) ? " -r -F" : " -x";
          }
        }
        out += " -d " + text(row.text) + "\n";
      }
    }
  }
  return out;
}

/// A script that completes commands, options and the known values of options. `shell`: bash, zsh or
/// fish. Throws Error(usage) for another shell.
std::string completion_script(const std::string& shell, const CommandTable& program) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw unknown_name("shell", shell, "bash, zsh, fish");
}

}  // namespace

Action add_completion(CLI::App& parent, CLI::App*& added) {
  auto shell = std::make_shared<std::string>();
  added = parent.add_subcommand("completion", "Write the completion script of a shell");
  added->add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name("bash|zsh|fish");
  set_examples(*added, {"source <(attnscope completion bash)",
                        "attnscope completion fish >~/.config/fish/completions/attnscope.fish"});
  return [shell, &parent] {
    write_to_standard_output(completion_script(*shell, command_table(parent)));
    return 0;
  };
}

}  // namespace attnscope
