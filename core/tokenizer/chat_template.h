// Chat templates: the text that a model of conversations expects around a message.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace attnscope {

class KeyValues;

struct ChatTemplate {
  std::string source;  ///< in Jinja
  /// Texts of special tokens by their names in templates: bos_token, eos_token, ….
  std::map<std::string, std::string> tokens = {};

  /// The text of a conversation whose one message is the user's, up to where the answer begins; its
  /// words come after `pictures` pictures. Throws like render_jinja, and Error(unsupported) if the
  /// message is not part of that text.
  [[nodiscard]] std::string text_of(const std::string& message, std::size_t pictures) const;
};

/// The template in chat_template.jinja, chat_template.json or tokenizer_config.json of `folder`, or
/// under tokenizer.chat_template of a GGUF file; of several the one called "default". Empty if
/// there is none or its file cannot be read.
[[nodiscard]] std::optional<ChatTemplate> find_chat_template(const std::filesystem::path& folder,
                                                             const KeyValues* keys);

}  // namespace attnscope
