#include "analysis/figure/figure_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "core/shown_text.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Quotes a word with control characters as $'…', with non-printable and non-ASCII bytes as \xNN.
std::string as_escapes(const std::string& text) {
  std::string quoted = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    std::array<char, 8> escape{};
    if (c == '\'' || c == '\\') {
      quoted += std::string("\\") + c;
    } else if (byte < 0x20 || byte > 0x7E) {
      std::snprintf(escape.data(), escape.size(), "\\x%02X", byte);
      quoted += escape.data();
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

/// True if the model was trained with `mechanism`; parameters that are not given have their
/// defaults.
bool trained_with(const Model& model, const MechanismChoice& mechanism) {
  const auto as_run = [grid = model.spec().has_grid()](const MechanismChoice& choice) {
    return make_mechanism(choice_over_tokens(choice, grid))->choice();
  };
  return as_run(mechanism) == as_run(model.spec().mechanism);
}

}  // namespace

std::string in_single_quotes(std::string_view text, std::string_view inner) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? inner : std::string_view(&c, 1);
  return quoted + "'";
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  if (shown_text(text) != text) return as_escapes(text);
  return in_single_quotes(text);
}

std::string subject_source(const Subject& subject) {
  if (subject.model == nullptr) return {};
  std::string source = subject.model->file().string();
  const bool has_channel = subject.trace && subject.trace->map_channel;
  const bool own = trained_with(*subject.model, subject.mechanism);
  if (own && !has_channel) return source;
  source += "@" + subject.mechanism.name;
  for (const auto& [name, value] : subject.mechanism.parameters) {
    source += "," + name + "=" + to_string(value);
  }
  if (has_channel) source += ",channel=" + std::to_string(*subject.trace->map_channel);
  return source;
}

std::string subject_name(const Model& model, const MechanismChoice& mechanism,
                         bool codes_laid_over) {
  const bool own = !codes_laid_over && trained_with(model, mechanism);
  return own ? model.name() : model.name() + " with " + in_words(mechanism);
}

namespace {

void add_words(std::string& line, const char* flag, const std::vector<std::string>& values) {
  for (const std::string& value : values) line += " " + std::string(flag) + " " + shell_word(value);
}

/// Arguments for style, size and output.
std::string look_words(const FigureCommand& command) {
  std::string line;
  add_words(line, "--width", {rounded_text(command.width_mm, 6)});
  if (command.font_size_pt > 0) {
    add_words(line, "--font-size", {rounded_text(command.font_size_pt, 6)});
  }
  if (command.first_layer != 0) {
    add_words(line, "--layers-from", {std::to_string(command.first_layer)});
  }
  for (const std::string& text : style_arguments(command.style)) line += " " + shell_word(text);
  if (command.dpi != 300) add_words(line, "--dpi", {rounded_text(command.dpi, 6)});
  if (command.heat_maps != "auto") add_words(line, "--heat-maps", {command.heat_maps});
  if (command.csv_provenance != "file") {
    add_words(line, "--csv-provenance", {command.csv_provenance});
  }
  if (command.transparent) add_words(line, "--background", {"transparent"});
  if (!command.formats.empty()) add_words(line, "--format", {command.formats});
  if (!command.out.empty()) add_words(line, "--out", {command.out});
  return line;
}

/// MODEL argument of a subject with its own input: FILE@,input=LOCATOR or
/// FILE@MECHANISM,input=LOCATOR.
std::string with_own_input(std::string source, const std::string& locator) {
  std::error_code ignored;
  const bool lays_mechanism =
      source.find('@') != std::string::npos && !std::filesystem::exists(source, ignored);
  return source + (lays_mechanism ? ",input=" : "@,input=") + locator;
}

}  // namespace

std::string to_string(const FigureCommand& command) {
  std::string line = "attnscope figure " + shell_word(command.figure);
  for (const std::string& model : command.models) line += " " + shell_word(model);
  add_words(line, "--label", command.labels);
  add_words(line, "--input", command.inputs);
  for (const std::string& text : command.further) line += " " + shell_word(text);
  add_words(line, "--set", command.settings);
  return line + look_words(command);
}

FigureCommand command_of(std::string_view figure, const FigureRequest& request) {
  FigureCommand command;
  command.figure = figure;
  bool own_labels = false;
  for (std::size_t index = 0; index < request.subjects.size(); ++index) {
    const Subject& subject = request.subjects[index];
    std::string source = index < request.sources.size() && !request.sources[index].empty()
                             ? request.sources[index]
                             : subject_source(subject);
    if (source.empty()) source = subject.label;
    if (!subject.own_input.empty()) source = with_own_input(std::move(source), subject.own_input);
    command.models.push_back(std::move(source));
    command.labels.push_back(subject.label);
    std::string name = subject.trace ? subject.trace->model_name : std::string();
    if (subject.model) name = subject_name(*subject.model, subject.mechanism);
    if (!subject.own_input.empty() && subject.input) name += " on " + subject.input->label;
    own_labels |= subject.label != name;
    if (subject.input != nullptr && subject.own_input.empty() &&
        std::find(command.inputs.begin(), command.inputs.end(), subject.input->locator) ==
            command.inputs.end()) {
      command.inputs.push_back(subject.input->locator);
    }
  }
  // The command runs every model on every input and makes labels that name both.
  if (command.inputs.size() > 1) {
    std::vector<std::string> once;
    for (std::string& model : command.models) {
      if (std::find(once.begin(), once.end(), model) == once.end()) {
        once.push_back(std::move(model));
      }
    }
    command.models = std::move(once);
    own_labels = false;
  }
  if (!own_labels) command.labels.clear();
  command.further = request.further_arguments;
  for (const auto& [setting, value] : request.settings) {
    command.settings.push_back(setting + "=" + to_string(value));
  }
  command.width_mm = request.width_mm;
  command.font_size_pt = request.font_size_pt;
  command.first_layer = request.first_layer;
  return command;
}

std::string figure_command(std::string_view name, const FigureRequest& request) {
  return to_string(command_of(name, request));
}

}  // namespace attnscope
