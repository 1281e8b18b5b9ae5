#include "core/tokenizer/vocabulary.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "core/checkpoint/key_values.h"
#include "core/error.h"
#include "core/input/text.h"
#include "core/tokenizer/byte_pairs.h"
#include "core/tokenizer/chat_template.h"
#include "core/tokenizer/gguf_tokenizer.h"
#include "core/tokenizer/tokenizer.h"

namespace attnscope {

namespace {

/// Position of a byte as "line 3, column 7", from 1.
std::string place_in(const std::string& text, std::size_t byte) {
  std::size_t line = 1, column = 1;
  for (const std::size_t start : character_starts(text)) {
    if (start >= byte) break;
    ++column;
    if (text[start] == '\n') {
      ++line;
      column = 1;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Code point and character: U+2014 '—'.
std::string code_point_of(const std::string& character) {
  unsigned code = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) {
    code &= 0xFFU >> (character.size() + 1);
    for (std::size_t i = 1; i < character.size(); ++i) {
      code = (code << 6) | (static_cast<unsigned char>(character[i]) & 0x3FU);
    }
  }
  constexpr char digits[] = "0123456789ABCDEF";
  std::string hexadecimal;
  for (int shift = code > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4) {
    hexadecimal += digits[(code >> shift) & 0xFU];
  }
  return "U+" + hexadecimal + (code < 32 || code == 127 ? "" : " '" + character + "'");
}

class Characters final : public Vocabulary {
 public:
  explicit Characters(const std::vector<std::string>& characters) : texts_(characters) {
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      ids_.emplace(texts_[i], static_cast<std::int64_t>(i));
    }
  }

  [[nodiscard]] std::vector<std::int64_t> encode(const std::string& text) const override {
    const std::vector<std::size_t> starts = character_starts(text);
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      const std::string character = text.substr(starts[i], starts[i + 1] - starts[i]);
      const auto id = ids_.find(character);
      if (id == ids_.end()) refuse(text, starts[i], character);
      ids.push_back(id->second);
    }
    return ids;
  }

  [[nodiscard]] std::string text_of(std::int64_t id) const override {
    return texts_.at(static_cast<std::size_t>(id));
  }

 private:
  [[noreturn]] void refuse(const std::string& text, std::size_t at,
                           const std::string& character) const {
    if (first_invalid_utf8(character) != std::string::npos) {
      throw Error(ErrorKind::usage, "the text is not UTF-8")
          .found("a broken character in " + place_in(text, at));
    }
    std::string known;
    for (const std::string& sign : texts_) {
      if (sign != "\n" && sign != "\t" && sign != "\r") known += sign;
    }
    throw Error(ErrorKind::usage, "the model's vocabulary lacks a character of the text")
        .expected(
            "one of " + std::to_string(texts_.size()) + ": " +
            known.substr(
                0, character_starts(
                       known)[std::min<std::size_t>(120, character_starts(known).size() - 1)]))
        .found(code_point_of(character) + " in " + place_in(text, at));
  }

  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

class Bytes final : public Vocabulary {
 public:
  explicit Bytes(const std::vector<std::string>& labels) : labels_(labels) {}

  [[nodiscard]] std::vector<std::int64_t> encode(const std::string& text) const override {
    std::vector<std::int64_t> ids;
    for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
    return ids;
  }

  [[nodiscard]] std::string text_of(std::int64_t id) const override {
    if (id < 256) return {static_cast<char>(id)};
    const auto index = static_cast<std::size_t>(id);
    return index < labels_.size() ? labels_[index] : "<" + std::to_string(id) + ">";
  }

 private:
  std::vector<std::string> labels_;
};

/// A vocabulary of ids only, which throws `reason` for texts.
class Ids final : public Vocabulary {
 public:
  Ids(const std::vector<std::string>& labels, Error reason)
      : labels_(labels), reason_(std::move(reason)) {}

  [[nodiscard]] std::vector<std::int64_t> encode(const std::string&) const override {
    throw Error(reason_);
  }

  [[nodiscard]] Encoding encode_texts(const std::string&, const std::string*) const override {
    throw Error(reason_);
  }

  [[nodiscard]] std::string text_of(std::int64_t id) const override {
    const auto index = static_cast<std::size_t>(id);
    return index < labels_.size() ? labels_[index] : std::to_string(id);
  }

  [[nodiscard]] bool says_texts() const override { return !labels_.empty(); }

 private:
  std::vector<std::string> labels_;
  Error reason_;
};

/// A vocabulary with a chat template.
class WithChat final : public Vocabulary {
 public:
  WithChat(std::shared_ptr<const Vocabulary> tokens, ChatTemplate chat)
      : tokens_(std::move(tokens)), chat_(std::move(chat)) {}

  [[nodiscard]] std::vector<std::int64_t> encode(const std::string& text) const override {
    return tokens_->encode(text);
  }
  [[nodiscard]] std::string text_of(std::int64_t id) const override { return tokens_->text_of(id); }
  [[nodiscard]] Encoding encode_texts(const std::string& first,
                                      const std::string* second) const override {
    return tokens_->encode_texts(first, second);
  }
  [[nodiscard]] bool has_chat() const override { return true; }
  [[nodiscard]] std::string chat_text(const std::string& message,
                                      std::size_t pictures) const override {
    return chat_.text_of(message, pictures);
  }
  [[nodiscard]] bool is_special(std::int64_t id) const override { return tokens_->is_special(id); }
  [[nodiscard]] bool says_texts() const override { return tokens_->says_texts(); }
  [[nodiscard]] std::int64_t size() const override { return tokens_->size(); }

 private:
  std::shared_ptr<const Vocabulary> tokens_;
  ChatTemplate chat_;
};

Error without_tokenizer() {
  return Error(ErrorKind::usage, "it is not known how the model splits a text into tokens")
      .about("tokenizer")
      .expected("token ids, such as ids:15,3,42")
      .remedy(
          "put the model's tokenizer.json (or vocab.txt, or vocab.json and merges.txt) next to the "
          "weights, or set tokenizer=bytes");
}

/// The tokenizer in the weight file or next to it. If it cannot be read, only ids are supported, so
/// that a model with an unsupported tokenizer can still run.
std::shared_ptr<const Vocabulary> tokenizer_of_file(const ModelSpec& spec,
                                                    const std::filesystem::path& folder,
                                                    const KeyValues* keys) {
  try {
    auto tokenizer = keys && keys->contains(kGgufTokenizerKey)
                         ? make_gguf_tokenizer(gguf_tokenizer_of(*keys))
                         : read_tokenizer(folder);
    if (std::optional<ChatTemplate> chat = find_chat_template(folder, keys); tokenizer && chat) {
      return std::make_shared<const WithChat>(std::move(tokenizer), *std::move(chat));
    }
    if (tokenizer) return tokenizer;
  } catch (Error& error) {
    const std::string remedy = error.remedy_text();
    error.remedy((remedy.empty() ? "" : remedy + "; ") + "token ids can be given: ids:15,3,42");
    return std::make_shared<const Ids>(spec.labels, error);
  }
  return std::make_shared<const Ids>(spec.labels, without_tokenizer());
}

}  // namespace

std::shared_ptr<const Vocabulary> make_vocabulary(const ModelSpec& spec,
                                                  const std::filesystem::path& folder,
                                                  const KeyValues* keys) {
  switch (spec.input.tokenizer) {
    case Tokenizer::characters:
      return std::make_shared<const Characters>(spec.labels);
    case Tokenizer::bytes:
      return std::make_shared<const Bytes>(spec.labels);
    case Tokenizer::byte_pairs:
      return read_byte_pairs(folder, spec.input.vocabulary);
    case Tokenizer::file:
      return tokenizer_of_file(spec, folder, keys);
    case Tokenizer::ids:
      break;
  }
  return std::make_shared<const Ids>(spec.labels, without_tokenizer());
}

}  // namespace attnscope
