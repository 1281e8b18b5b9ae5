#include "app/cli/wrong_usage.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command_table.h"
#include "core/nearest_name.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

/// "--out, --of or --option": the long options that begin with the letter of "-o".
std::string beginning_with(char letter, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (name.starts_with("--") && name[2] == letter) found.push_back(name);
  }
  std::string list;
  for (std::size_t i = 0; i < found.size(); ++i) {
    list += (i == 0 ? "" : i + 1 < found.size() ? ", " : " or ") + found[i];
  }
  return list;
}

/// The known option nearest to a mistyped one; for a single letter, all options that begin with it.
std::string nearest_option(const std::string& given, const std::vector<std::string>& names) {
  const std::size_t begin = given.find_first_not_of('-');
  if (begin == std::string::npos) return {};
  // The dashes are removed, because they would count as similarity.
  const std::string word = given.substr(begin);
  if (word.size() == 1) {
    const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(word.front())));
    return beginning_with(lower, names);
  }
  std::vector<std::string> bare;
  for (const std::string& name : names) {
    if (name.starts_with("--")) bare.push_back(name.substr(2));
  }
  const std::string nearest = nearest_name(word, bare);
  return nearest.empty() ? std::string() : "--" + nearest;
}

Error unknown_option(const CommandTable& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& row : group.rows) {
      names.insert(names.end(), row.names.begin(), row.names.end());
    }
  }
  const std::string nearest = nearest_option(name, names);
  return Error(ErrorKind::usage, "there is no option " + name)
      .remedy((nearest.empty() ? "" : "did you mean " + nearest + "? ") + command.name +
              " --help lists the options");
}

/// True if the extension is that of a picture, text or sound, which is an input instead of a model.
bool is_named_as_input(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return std::ranges::any_of(
      std::initializer_list<const char*>{".png", ".jpg", ".jpeg", ".txt", ".wav"},
      [&](const char* known) { return extension == known; });
}

bool takes_input(const CLI::App& command) {
  return command.get_option_no_throw("--input") != nullptr;
}

/// The remedy for an argument beyond the last accepted one.
std::string remedy_of_surplus(const CLI::App& command, const std::string& surplus,
                              const std::string& help) {
  if (is_named_as_input(surplus) && takes_input(command)) {
    return "pictures, texts and sounds are given with --input " + surplus;
  }
  if (command.get_name() == "spectrum") {
    return "one model at a time: attnscope compare and attnscope heads take several";
  }
  return help;
}

/// The error about an option whose value is none of its words; nullopt if all values are valid.
std::optional<Error> wrong_word(const CLI::App& command, const CommandTable& table) {
  for (const OptionGroup& group : table.groups) {
    for (const OptionRow& row : group.rows) {
      const std::vector<std::string> known = known_values(row);
      const CLI::Option* option = command.get_option_no_throw(row.names.back());
      // Placeholders, which are in capitals, may take other values.
      const auto is_capital = [](unsigned char c) { return std::isupper(c) != 0; };
      const bool only_words = std::ranges::none_of(row.value, is_capital);
      if (!only_words || known.empty() || option == nullptr) continue;
      for (const std::string& given : option->results()) {
        if (std::ranges::find(known, given) != known.end()) continue;
        return unknown_name("value", given, name_list(known)).about(row.names.back());
      }
    }
  }
  return std::nullopt;
}

/// True if `text` looks like a model's name on a hub or a URL instead of a local file.
bool is_named_elsewhere(const std::string& text) {
  if (text.find("://") != std::string::npos) return true;
  const std::filesystem::path path = text;
  if (path.is_absolute() || text.front() == '.') return false;
  const auto slashes = std::ranges::count(text, '/');
  std::error_code ignored;
  if (slashes == 1) return !std::filesystem::exists(path.parent_path(), ignored);
  return slashes == 0 && !path.has_extension();
}

/// The first surplus word of a positional argument; empty if there is none. CLI11 collects all
/// words of a list and checks their number only afterwards.
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

Error unknown_command(const CLI::App& program, const std::string& word) {
  std::vector<std::string> names;
  std::string nearest;
  for (const CLI::App* command : program.get_subcommands({})) {
    names.push_back(command->get_name());
    // The word may be the first argument of a command: "figures", "rank-by-layer".
    const CommandTable table = command_table(*command);
    if (table.arguments.empty()) continue;
    const std::vector<std::string> values = known_values(table.arguments.front());
    if (std::ranges::find(values, word) != values.end()) nearest = names.back() + " " + word;
  }
  if (nearest.empty()) nearest = nearest_name(word, names);
  return Error(ErrorKind::usage, "there is no command '" + word + "'")
      .remedy(nearest.empty() ? "attnscope --help lists the commands"
                              : "did you mean attnscope " + nearest + "?");
}

void explain_model(const CLI::App& command, Error& error) {
  const std::string file = error.file().string();
  const CLI::Option* models = command.get_option_no_throw("MODEL");
  if (models == nullptr) models = command.get_option_no_throw("FILE");
  if (file.empty() || models == nullptr) return;
  const bool is_model = std::ranges::any_of(models->results(), [&](const std::string& text) {
    return text == file || text.starts_with(file + "@");
  });
  if (!is_model) return;
  std::string remedy = error.remedy_text();
  const auto add = [&](const std::string& text) {
    error.remedy(remedy.empty() ? text : remedy + "; " + text);
  };
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    if (is_named_as_input(file) && takes_input(command)) {
      add("pictures, texts and sounds are given with --input " + file);
    }
  } else if (is_named_elsewhere(file)) {
    add("nothing is downloaded: fetch the model's config.json, model.safetensors (every part of "
        "it) "
        "and, of a language model, tokenizer.json into a folder, and give the folder");
  }
}

Error wrong_usage(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<CLI::App*> given = program.get_subcommands();
  const CLI::App& command = given.empty() ? program : *given.front();
  const CommandTable table = command_table(command);
  // Words that were not understood are reported before missing ones.
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
        .remedy(remedy_of_surplus(command, surplus, help));
  }
  if (const std::optional<Error> word = wrong_word(command, table)) return *word;
  return Error(ErrorKind::usage, error.what()).remedy(help);
}

}  // namespace attnscope
