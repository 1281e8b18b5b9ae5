#include "analysis/figure/figure_command.h"

#include "analysis/figure/number_text.h"

namespace attnscope {

std::string shell_word(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string subject_source(const Subject& subject) {
  if (subject.model == nullptr) return {};
  std::string source = subject.model->file().string();
  if (subject.mechanism == subject.model->spec().mechanism) return source;
  source += "@" + subject.mechanism.name;
  for (const auto& [name, value] : subject.mechanism.parameters) {
    source += "," + name + "=" + to_string(value);
  }
  return source;
}

std::string figure_command(std::string_view name, const FigureRequest& request) {
  std::string command = "attnscope figure " + std::string(name);
  std::string input;
  for (std::size_t index = 0; index < request.subjects.size(); ++index) {
    const Subject& subject = request.subjects[index];
    const std::string source = index < request.sources.size() && !request.sources[index].empty()
                                   ? request.sources[index]
                                   : subject_source(subject);
    command += " --model " + shell_word(source.empty() ? subject.label : source);
    if (input.empty() && subject.input != nullptr) input = subject.input->locator;
  }
  if (!input.empty()) command += " --input " + shell_word(input);
  for (const auto& [setting, value] : request.settings) {
    command += " --set " + shell_word(setting + "=" + value);
  }
  return command + " --width-mm " + rounded_text(request.width_mm, 6);
}

}  // namespace attnscope
