// A tokenizer next to a model splits the model's texts.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/model/model.h"
#include "core/trace/trace_file.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;

constexpr const char* kFamilies = "models/families/";

/// A folder with a model of hashed weights whose token embedding has `vocabulary` rows.
class ModelTokenizer : public testing::Test {
 protected:
  void write_llama(std::int64_t vocabulary) {
    const json of = read_test_data(std::string(kFamilies) + "hugging_face_llama.json");
    NamedShapes shapes = family_shapes("hugging_face_llama");
    for (auto& [name, shape] : shapes) {
      if (name == "model.embed_tokens.weight" || name == "lm_head.weight") shape[0] = vocabulary;
    }
    json config = of["config"];
    config["vocab_size"] = vocabulary;
    (void)folder_.write("config.json", config.dump());
    write_hashed_safetensors(folder_ / "model.safetensors", shapes);
  }

  [[nodiscard]] std::shared_ptr<const Model> opened() const { return load_model(folder_.path()); }

  [[nodiscard]] static Trace run(const Model& model, Text text) {
    Input input;
    input.content = std::move(text);
    return model.run(input, model.spec().mechanism, {}, {});
  }

  const TemporaryFolder folder_;
};

TEST_F(ModelTokenizer, SplitsTypedTextWhenTheFolderHasOne) {
  const json saved = read_test_data("tokenizer/llama2.json");
  write_llama(420);  // more rows than the tokenizer has tokens
  (void)folder_.write("tokenizer.json", saved["tokenizer"].dump());
  const auto model = opened();
  EXPECT_EQ(model->spec().input.tokenizer, Tokenizer::file);
  std::size_t compared = 0;
  for (const json& line : saved["inputs"]) {
    const auto ids = line["ids"].get<std::vector<std::int64_t>>();
    const auto texts = line["texts"].get<std::vector<std::string>>();
    if (texts.size() > 1 || ids.size() > 64) continue;
    const Trace typed = run(*model, {texts[0], {}}), numbered = run(*model, {"", ids});
    ASSERT_EQ(typed.logits.size(), numbered.logits.size());
    for (std::int64_t i = 0; i < typed.logits.size(); ++i) {
      ASSERT_EQ(typed.logits.data()[i], numbered.logits.data()[i]) << texts[0];
    }
    EXPECT_EQ(typed.layout.texts.size(), ids.size());
    EXPECT_EQ(typed.layout.texts[0], "<s>");
    ASSERT_FALSE(typed.layout.special.empty());
    EXPECT_EQ(typed.layout.special[0], 0);
    EXPECT_EQ(numbered.layout.special, typed.layout.special);
    EXPECT_EQ(typed.labels.back(), "<419>");
    ++compared;
  }
  EXPECT_GT(compared, 20U);
}

TEST_F(ModelTokenizer, ShowsIdsAndNamesTheStageThatIsNotImplemented) {
  json tokenizer = read_test_data("tokenizer/llama2.json")["tokenizer"];
  tokenizer["normalizer"] = {{"type", "Transliterate"}};
  write_llama(420);
  (void)folder_.write("tokenizer.json", tokenizer.dump());
  const auto model = opened();
  EXPECT_EQ(run(*model, {"", {1, 5, 9}}).layout.texts[1], "5");
  expect_refusal(
      [&] {
        return run(*model, {"To be", {}});
      },
      ErrorKind::unsupported, "Transliterate", "normalizer");
  expect_refusal(
      [&] {
        return run(*model, {"To be", {}});
      },
      ErrorKind::unsupported, "ids:15,3,42", "tokenizer.json");
}

TEST_F(ModelTokenizer, IsRequestedWhenMissing) {
  write_llama(420);
  const auto model = opened();
  EXPECT_EQ(model->spec().input.tokenizer, Tokenizer::ids);
  expect_refusal(
      [&] {
        return run(*model, {"To be", {}});
      },
      ErrorKind::usage, "ids:15,3,42", "tokenizer.json");
}

TEST_F(ModelTokenizer, ALanguageModelTakesNoPair) {
  write_llama(420);
  (void)folder_.write("tokenizer.json",
                      read_test_data("tokenizer/llama2.json")["tokenizer"].dump());
  expect_refusal(
      [&] {
        return run(*opened(), {"To be", {}, "or not"});
      },
      ErrorKind::usage, "pair", "");
}

TEST_F(ModelTokenizer, AddsBertsSpecialTokensThatATraceKeeps) {
  const json of = read_test_data(std::string(kFamilies) + "hugging_face_bert_pair.json");
  std::string words;
  for (const json& word : of["vocabulary"]) words += word.get<std::string>() + "\n";
  (void)folder_.write("vocab.txt", words);
  (void)folder_.write("config.json", of["config"].dump());
  write_hashed_safetensors(folder_ / "model.safetensors", family_shapes("hugging_face_bert_pair"));
  const Trace trace = run(*opened(), {"Who is there?", {}, "Unfolded me"});
  EXPECT_EQ(trace.layout.texts,
            (std::vector<std::string>{"[CLS]", "who", "is", "there", "?", "[SEP]", "un", "##fold",
                                      "##ed", "me", "[SEP]"}));
  EXPECT_EQ(trace.layout.special, (std::vector<std::int64_t>{0, 5, 10}));
  write_trace(folder_ / "trace.h5", trace);
  EXPECT_EQ(read_trace(folder_ / "trace.h5").layout.special, trace.layout.special);
}

}  // namespace
}  // namespace attnscope
