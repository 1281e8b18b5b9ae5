// Defaults of Vocabulary: a single text, with byte ranges from the tokens' lengths, and no chat
// template.
#include "core/error.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

Encoding Vocabulary::encode_texts(const std::string& first, const std::string* second) const {
  if (second) {
    throw Error(ErrorKind::unsupported, "the model's tokenizer does not support pairs of texts")
        .about("tokenizer");
  }
  Encoding encoding;
  std::size_t at = 0;
  for (const std::int64_t id : encode(first)) {
    const std::size_t end = at + text_of(id).size();
    const bool known = at < end && end <= first.size();
    encoding.add(id, 0, known ? TokenPlace{at, end} : TokenPlace{}, 0);
    at = end;
  }
  return encoding;
}

std::string Vocabulary::chat_text(const std::string&, std::size_t) const {
  throw Error(ErrorKind::usage, "the model has no chat template")
      .expected(
          "chat_template in tokenizer_config.json, or chat_template.jinja, next to the weights")
      .remedy("give the whole text: text:WORDS");
}

}  // namespace attnscope
