// Tokenizes a text, a pair, and the text for a decoder.
#include <utility>

#include "core/budget.h"
#include "core/error.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

namespace {

/// Token ids with their types and special positions.
TokenizedText numbered(std::vector<std::int64_t> ids, const Vocabulary& vocabulary) {
  TokenizedText result{std::move(ids), {}, {}, {}};
  result.types.assign(result.ids.size(), 0);
  for (std::size_t i = 0; i < result.ids.size(); ++i) {
    if (vocabulary.is_special(result.ids[i])) {
      result.special.push_back(static_cast<std::int64_t>(i));
    }
  }
  return result;
}

/// Tokenizes a text, or a pair (second not null).
TokenizedText encoded(const std::string& first, const std::string* second,
                      const Vocabulary& vocabulary) {
  Encoding encoding = vocabulary.encode_texts(first, second);
  TokenizedText result{std::move(encoding.ids), {}, std::move(encoding.types), {}};
  for (std::size_t i = 0; i < result.ids.size(); ++i) {
    if (encoding.sources[i] < 0 || vocabulary.is_special(result.ids[i])) {
      result.special.push_back(static_cast<std::int64_t>(i));
    }
  }
  return result;
}

/// The tokens of a message in the model's chat template, which has all special tokens itself.
TokenizedText encoded_chat(const std::string& message, const Vocabulary& vocabulary) {
  const Encoding encoding = vocabulary.encode_texts(vocabulary.chat_text(message, 0), nullptr);
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.sources[i] >= 0) ids.push_back(encoding.ids[i]);
  }
  return numbered(std::move(ids), vocabulary);
}

TokenizedText tokens_of(const Text& text, const ModelSpec& spec, const Vocabulary& vocabulary) {
  const bool pair = text.second || !text.second_ids.empty();
  if (pair && spec.is_language_model() && !spec.has_decoder()) {
    throw Error(ErrorKind::usage, "a language model takes one text, not a pair")
        .expected("text:WORDS");
  }
  if (!text.second_ids.empty() && !spec.has_decoder()) {
    throw Error(ErrorKind::usage, "only encoder-decoder models take two lists of token ids")
        .expected("one list, with the tokens between the texts: ids:15,3,42");
  }
  if (!text.ids.empty()) return numbered(text.ids, vocabulary);
  if (text.chat) return encoded_chat(text.characters, vocabulary);
  const bool together = text.second && !spec.has_decoder();
  return encoded(text.characters, together ? &*text.second : nullptr, vocabulary);
}

/// Limits of a text: context length and vocabulary size.
struct TextBounds {
  std::int64_t context = 0;  ///< longest text in tokens; 0: no limit
  std::int64_t tokens = 0;
};

/// Adds the text of each token, or its id if `vocabulary` is null. Throws Error(usage) for invalid
/// ids and too many tokens.
void name_tokens(const TextBounds& bounds, const Vocabulary* vocabulary, TokenizedText& tokens) {
  const std::int64_t context = bounds.context;
  const std::int64_t count = std::ssize(tokens.ids);
  if (context > 0 && count > context) {
    throw Error(ErrorKind::usage, "the text is longer than the model's position table")
        .expected("at most " + std::to_string(context) + " tokens")
        .found(std::to_string(count))
        .remedy("give a part of it: FILE.txt#0-" + std::to_string(context) +
                " is its beginning, in characters");
  }
  constexpr BudgetRates rates{.always = 1 << 20, .a_byte = 1024};
  const ThreadBudget budget("showing the tokens", tokens.ids.size(), rates);
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    const std::int64_t id = tokens.ids[i];
    if (id < 0 || id >= bounds.tokens) {
      throw Error(ErrorKind::usage, "the token id is outside the model's vocabulary")
          .about("token " + std::to_string(i))
          .expected("0 to " + std::to_string(bounds.tokens - 1))
          .found(std::to_string(id));
    }
    tokens.texts.push_back(vocabulary ? vocabulary->text_of(id) : std::to_string(id));
  }
}

/// The decoder's input as in training: the start token, then the second text without its end token.
TokenizedText shifted(const Text& text, const ModelSpec& spec, const Vocabulary& vocabulary) {
  if (spec.tail.start_token < 0) {
    throw Error(ErrorKind::usage, "the decoder's start token is not known")
        .about("tail.start_token")
        .expected("decoder_start_token_id in config.json")
        .remedy("--option tail.start_token=ID, or give its token ids too: ids:15,3,42 ||| 0,7");
  }
  TokenizedText tokens{{spec.tail.start_token}, {}, {0}, {0}};
  if (!text.second) return tokens;
  if (spec.tail.vocabulary > 0) {
    throw Error(ErrorKind::usage, "the decoder has its own vocabulary, but no tokenizer")
        .expected("token ids: ids:15,3,42 ||| 0,7,1");
  }
  TokenizedText second = encoded(*text.second, nullptr, vocabulary);
  const bool ends = !second.special.empty() && second.special.back() + 1 == std::ssize(second.ids);
  if (ends) {
    second.ids.pop_back();
    second.special.pop_back();
  }
  tokens.ids.insert(tokens.ids.end(), second.ids.begin(), second.ids.end());
  tokens.types.assign(tokens.ids.size(), 0);
  for (const std::int64_t place : second.special) tokens.special.push_back(place + 1);
  return tokens;
}

/// The text of an input. Throws Error(usage) naming an input of another kind.
const Text& text_of_input(const Input& input, const ModelSpec& spec) {
  if (const Text* const text = std::get_if<Text>(&input.content)) return *text;
  const char* const reader = spec.has_decoder()         ? "an encoder and a decoder read texts"
                             : spec.is_language_model() ? "a language model reads a text"
                                                        : "a text classifier reads a text";
  throw Error(ErrorKind::usage, reader)
      .about(input.label)
      .expected("a .txt file, text:WORDS, pair:FIRST ||| SECOND, or ids:1,2,3");
}

/// Returns `make()`. Errors without a subject get the input's label.
TokenizedText naming(const Input& input, const auto& make) {
  try {
    return make();
  } catch (Error& error) {
    if (error.subject().empty()) error.about(input.label);
    throw;
  }
}

}  // namespace

TokenizedText tokenize(const Text& text, const ModelSpec& spec, const Vocabulary& vocabulary,
                       bool any_length) {
  TokenizedText result = tokens_of(text, spec, vocabulary);
  if (result.ids.empty()) throw Error(ErrorKind::usage, "the text is empty");
  name_tokens({any_length ? 0 : spec.input.context, spec.input.vocabulary}, &vocabulary, result);
  return result;
}

TokenizedText tokenize_input(const Input& input, const ModelSpec& spec,
                             const Vocabulary& vocabulary) {
  const Text& text = text_of_input(input, spec);
  return naming(input, [&] { return tokenize(text, spec, vocabulary); });
}

TokenizedText tokenize_for_decoder(const Input& input, const ModelSpec& spec,
                                   const Vocabulary& vocabulary) {
  const Text& text = text_of_input(input, spec);
  return naming(input, [&] {
    // Tokens of a separate decoder vocabulary are only known by id.
    const bool own = spec.tail.vocabulary > 0;
    TokenizedText result = text.second_ids.empty() ? shifted(text, spec, vocabulary)
                                                   : numbered(text.second_ids, vocabulary);
    if (own && !text.second_ids.empty()) result.special.clear();
    name_tokens({spec.tail.context, spec.output_vocabulary()}, own ? nullptr : &vocabulary, result);
    return result;
  });
}

}  // namespace attnscope
