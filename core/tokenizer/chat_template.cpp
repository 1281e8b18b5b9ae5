#include "core/tokenizer/chat_template.h"

#include <nlohmann/json.hpp>

#include "core/checkpoint/key_values.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/lines.h"
#include "core/tokenizer/jinja.h"
#include "core/tokenizer/tokenizer_neighbours.h"

namespace attnscope {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kLargest = std::size_t{1} << 20;  // bytes
constexpr const char* kTemplateKey = "chat_template";

/// A template, or of a list of {"name", "template"} the default one; empty if there is none.
std::string source_in(const json& object) {
  const json found = object.is_object() ? object.value(kTemplateKey, json()) : json();
  if (found.is_string()) return found.get<std::string>();
  for (const json& one : found.is_array() ? found : json::array()) {
    const bool usual = one.is_object() && one.value("name", json()) == "default";
    if (usual && one.value("template", json()).is_string()) {
      return one["template"].get<std::string>();
    }
  }
  return {};
}

std::string source_beside(const std::filesystem::path& folder,
                          const TokenizerNeighbours& settings) {
  const std::filesystem::path own = folder / "chat_template.jinja";
  if (is_entry(own)) return read_file(own, kLargest);
  const std::filesystem::path processor = folder / "chat_template.json";
  std::string source = is_entry(processor) ? source_in(read_json_file(processor, kLargest)) : "";
  return source.empty() ? source_in(settings.config) : source;
}

}  // namespace

std::string ChatTemplate::text_of(const std::string& message, std::size_t pictures) const {
  const auto rendered = [&](const ordered_json& content) {
    ordered_json variables = {
        {"messages", ordered_json::array({{{"role", "user"}, {"content", content}}})},
        {"add_generation_prompt", true},
        {"tools", nullptr},
        {"documents", nullptr}};
    for (const auto& [name, text] : tokens) variables[name] = text;
    return render_jinja(source, variables);
  };
  const std::string words(without_spaces(message));
  ordered_json parts = ordered_json::array();
  for (std::size_t i = 0; i < pictures; ++i) parts.push_back({{"type", "image"}});
  parts.push_back({{"type", "text"}, {"text", message}});
  if (pictures == 0) {
    std::string text = rendered(message);
    if (text.find(words) != std::string::npos) return text;
  }
  // Templates of models of pictures expect a list of parts, and pass over a text.
  std::string text = rendered(parts);
  if (text.find(words) != std::string::npos) return text;
  throw Error(ErrorKind::unsupported, "the model's chat template does not write the message")
      .found(text.substr(0, 80))
      .remedy("give the whole text: text:WORDS");
}

std::optional<ChatTemplate> find_chat_template(const std::filesystem::path& folder,
                                               const KeyValues* keys) {
  try {
    ChatTemplate result;
    if (keys != nullptr) {
      result.source = keys->text("tokenizer.chat_template").value_or("");
      const auto texts = keys->texts("tokenizer.ggml.tokens").value_or(std::vector<std::string>{});
      for (const std::string token : {"bos", "eos"}) {
        const auto id = keys->whole("tokenizer.ggml." + token + "_token_id");
        if (id && *id >= 0 && *id < std::ssize(texts)) {
          result.tokens[token + "_token"] = texts[static_cast<std::size_t>(*id)];
        }
      }
    } else {
      const TokenizerNeighbours settings = read_tokenizer_neighbours(folder);
      result.source = source_beside(folder, settings);
      for (const char* const token : {"bos_token", "eos_token", "unk_token", "pad_token"}) {
        const std::string text = settings.text(token, "");
        if (!text.empty()) result.tokens[token] = text;
      }
    }
    if (!result.source.empty()) return result;
  } catch (const Error&) {  // the tokenizer itself tells what is wrong with its files
  }
  return std::nullopt;
}

}  // namespace attnscope
