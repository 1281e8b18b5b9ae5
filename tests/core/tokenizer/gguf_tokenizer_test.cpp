// GGUF's lists give the tokens of the same model's tokenizer.json in Hugging Face's library.
#include "core/tokenizer/gguf_tokenizer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/tokenizer/aligned_text.h"
#include "core/tokenizer/byte_signs.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using nlohmann::json;

/// The lists that a converter to GGUF makes from a tokenizer.json.
GgufTokenizer lists_of(const json& tokenizer, const std::string& pre) {
  GgufTokenizer data;
  data.model = "gpt2";
  data.pre = pre;
  const json& vocabulary = tokenizer.at("model").at("vocab");
  data.tokens.resize(vocabulary.size() + tokenizer.at("added_tokens").size());
  std::size_t count = 0;
  for (const auto& [text, id] : vocabulary.items()) {
    data.tokens.at(id.get<std::size_t>()) = text;
    count = std::max(count, id.get<std::size_t>() + 1);
  }
  data.types.assign(data.tokens.size(), 1);
  for (const json& token : tokenizer.at("added_tokens")) {
    const auto id = token.at("id").get<std::size_t>();
    data.tokens.at(id) = token.at("content");
    data.types.at(id) = token.at("special").get<bool>() ? 3 : 4;
    count = std::max(count, id + 1);
  }
  data.tokens.resize(count);
  data.types.resize(count);
  for (const json& merge : tokenizer.at("model").at("merges")) {
    data.merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  }
  return data;
}

const json& stored_array(const std::string& name) {
  return read_test_data("tokenizer/" + name + ".json");
}

TEST(GgufTokenizer, GivesTheTokensOfItsTokenizerJson) {
  for (const auto& [name, pre] : {std::pair("llama3", "llama-bpe"), {"starcoder", "starcoder"}}) {
    const json file = stored_array(name);
    GgufTokenizer data = lists_of(file.at("tokenizer"), pre);
    if (name == std::string("llama3")) data.bos = std::ssize(data.tokens) - 2;
    const auto tokenizer = make_gguf_tokenizer(data);
    std::size_t compared = 0;
    for (const json& input : file.at("inputs")) {
      const std::string text = input.at("texts").at(0);
      // GGUF has no NFC for Llama 3 and no tokens that match only whole words.
      const bool differs = text.find("added") != std::string::npos ||
                           text.find("\u0301") != std::string::npos ||
                           text.find("\u0958") != std::string::npos;
      if (input.at("texts").size() > 1 || differs) continue;
      EXPECT_EQ(json(tokenizer->encode(text)), input.at("ids")) << name << ": " << text;
      ++compared;
    }
    EXPECT_GT(compared, 20U);
  }
}

/// A byte-pair vocabulary in which each of `pieces` is a token if a text is split into them.
GgufTokenizer lists_for(const std::vector<std::string>& pieces, const std::string& pre) {
  GgufTokenizer data;
  data.model = "gpt2";
  data.pre = pre;
  const auto add = [&](const std::string& token) {
    if (std::ranges::find(data.tokens, token) != data.tokens.end()) return;
    data.tokens.push_back(token);
    data.types.push_back(1);
  };
  for (const std::string& piece : pieces) {
    const std::string signs = as_byte_signs(AlignedText(piece)).text();
    std::string whole;
    for_each_character(signs, [&](char32_t, std::size_t begin, std::size_t end) {
      const std::string next = signs.substr(begin, end - begin);
      add(next);
      if (!whole.empty()) data.merges.push_back(whole + " " + next);
      whole += next;
      add(whole);
    });
  }
  return data;
}

/// The pieces are those of Perl for the patterns of OpenAI's o200k, DeepSeek's first models and
/// DeepSeek-V3, each applied to all pieces that the one before it made.
TEST(GgufTokenizer, SplitsAsTheNamedPreTokenizer) {
  const std::vector<std::pair<const char*, std::vector<std::string>>> cases = {
      {"gpt-4o",
       {"HTMLParser's", " ", "123", "45", " t", "DON'T", " x", "/y", "//\n\n", " ", " Été"}},
      {"deepseek-llm",
       {"H", "é", "llo", " wOrld", ".", "x", "\n", "\n", "  ", "東京です", " ", "7", " !?", " ",
        "ひ", ",", " Ωж", "  "}},
      {"deepseek-v3",
       {"東京は", " foo", ".Bar", " ", "天気", " ", "123", "45", " x", "/y", "//\n\n", " ",
        " Été"}}};
  for (const auto& [pre, pieces] : cases) {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    const GgufTokenizer data = lists_for(pieces, pre);
    std::vector<std::string> found;
    for (const std::int64_t id : make_gguf_tokenizer(data)->encode(text)) {
      found.push_back(bytes_of_signs(data.tokens.at(static_cast<std::size_t>(id))));
    }
    EXPECT_EQ(found, pieces) << pre;
  }
}

TEST(GgufTokenizer, KeepsTokensThatAreNotUtf8) {
  GgufTokenizer data = lists_for({"that"}, "gpt-2");
  data.tokens.push_back("\xff");
  data.types.push_back(1);
  EXPECT_EQ(bytes_of_signs("a\xff"), "a\xff");
  EXPECT_EQ(make_gguf_tokenizer(data)->text_of(std::ssize(data.tokens) - 1), "\xff");
}

TEST(GgufTokenizer, NamesUnsupportedParts) {
  const GgufTokenizer right = lists_of(stored_array("starcoder").at("tokenizer"), "starcoder");
  const auto refused = [](const GgufTokenizer& data, ErrorKind kind, const std::string& named) {
    expect_refusal([&] { return make_gguf_tokenizer(data); }, kind, named, "");
  };
  GgufTokenizer data = right;
  data.model = "t5";
  refused(data, ErrorKind::unsupported, "tokenizer.ggml.model");
  data = right;
  data.pre = "unheard-of";
  refused(data, ErrorKind::unsupported, "unheard-of");
  data = right;
  data.types.pop_back();
  refused(data, ErrorKind::damaged, "token_type");
  data = right;
  data.merges.push_back("alone");
  refused(data, ErrorKind::damaged, "alone");
  data = right;
  data.add_eos = true;
  refused(data, ErrorKind::damaged, "eos_token_id");
}

}  // namespace
}  // namespace attnscope
