// GGUF's lists give the tokens of the same model's tokenizer.json in Hugging Face's library.
#include "core/tokenizer/gguf_tokenizer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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
