#include "analysis/figure/setting_form.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace attnscope {

namespace {

constexpr std::string_view anything_else = "…";

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' '; };
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
  text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
  return text;
}

std::string without_parentheses(std::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0) out += c;
    if (c == ')') --depth;
  }
  return out;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

/// "…, 0 to 1": the range that the explanation ends in.
bool find_range(std::string_view explanation, SettingControl& control) {
  const std::vector<std::string> parts = split(explanation, " to ");
  if (parts.size() < 2) return false;
  const std::string& before = parts[parts.size() - 2];
  const auto least = number_in(before.substr(before.find_last_of(" ,") + 1));
  const auto greatest = number_in(parts.back());
  if (!least || !greatest || *least >= *greatest) return false;
  control.kind = SettingKind::number;
  control.minimum = *least;
  control.maximum = *greatest;
  return true;
}

/// One word as users type it: what is in capitals stands for something else.
bool is_choice(const std::string& word) {
  return std::none_of(word.begin(), word.end(),
                      [](char c) { return c == ' ' || (c >= 'A' && c <= 'Z'); });
}

/// Words joined by commas and "or", after a colon if there is one. The default is among them.
bool find_choices(const FigureSetting& setting, SettingControl& control) {
  std::string text = without_parentheses(setting.explanation);
  if (const std::size_t colon = text.find(": "); colon != std::string::npos) {
    text.erase(0, colon + 2);
  }
  for (const std::string& piece : split(text, ",")) {
    for (std::string word : split(" " + piece, " or ")) {
      word = trimmed(word);
      // After "indices from 0 such as" or "LOW,HIGH" come examples.
      if (word.empty() || control.free) continue;
      if (is_choice(word)) {
        control.choices.push_back(word);
      } else {
        control.free = true;
      }
    }
  }
  const bool has_default = std::find(control.choices.begin(), control.choices.end(),
                                     setting.default_value) != control.choices.end();
  if (!has_default || (control.choices.size() < 2 && !control.free)) {
    control = {};
    return false;
  }
  control.kind = SettingKind::choice;
  return true;
}

}  // namespace

SettingControl control_of(const FigureSetting& setting) {
  SettingControl control;
  if (setting.form.file) {
    control.kind = SettingKind::file;
  } else if (!setting.form.choices.empty()) {
    control.kind = SettingKind::choice;
    control.choices = split(setting.form.choices, "|");
    if (control.choices.back() == anything_else) {
      control.choices.pop_back();
      control.free = true;
    }
  } else if (setting.form.minimum < setting.form.maximum) {
    control.kind = SettingKind::number;
    control.minimum = setting.form.minimum;
    control.maximum = setting.form.maximum;
  } else if (setting.default_value == "yes" || setting.default_value == "no") {
    control.kind = SettingKind::flag;
  } else if (!number_in(setting.default_value) || !find_range(setting.explanation, control)) {
    find_choices(setting, control);
  }
  return control;
}

}  // namespace attnscope
