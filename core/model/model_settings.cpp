#include "core/model/model_settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/attention/mechanism.h"
#include "core/error.h"

namespace attnscope {

ModelSettings split_model_settings(const std::string& text) {
  constexpr std::string_view kOption = "option.";
  ModelSettings model;
  std::size_t comma = std::min(text.find(','), text.size());
  model.mechanism = text.substr(0, comma);
  while (comma < text.size()) {
    const std::size_t begin = comma + 1;
    comma = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, comma - begin);
    const auto [key, value] = split_setting(part, "what follows the model's @");
    if (key == "channel") {
      model.channel = value;
    } else if (key == "architecture") {
      model.architecture = value;
    } else if (key == "model-heads") {
      model.model_heads = value;
    } else if (key.starts_with(kOption)) {
      model.options[key.substr(kOption.size())] = value;
    } else {
      model.settings.push_back(part);
    }
  }
  return model;
}

bool names_mechanism(const std::string& word) {
  return word.empty() ||
         std::ranges::find(mechanisms(), word, &MechanismEntry::name) != mechanisms().end();
}

std::size_t settings_begin(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return at;
  const std::string word = text.substr(at + 1, text.find(',', at) - at - 1);
  return names_mechanism(word) ? at : std::string::npos;
}

std::pair<std::string, std::string> split_setting(const std::string& text, const char* subject) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(ErrorKind::usage, "a setting is written key=value").about(subject).found(text);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<std::int64_t> parse_channel(const std::string& text) {
  if (text == "mean") return std::nullopt;
  std::int64_t channel = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), channel);
  if (failure != std::errc() || end != text.data() + text.size() || channel < 0) {
    throw Error(ErrorKind::usage, "the channel is not valid")
        .about("--channel")
        .expected("a number from 0, or mean")
        .found(text);
  }
  return channel;
}

}  // namespace attnscope
