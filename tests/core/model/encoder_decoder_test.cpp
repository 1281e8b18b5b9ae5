// Encoder–decoder models: the layers' queries and keys, the text of the decoder, and refused input.
// families_test compares their results with PyTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/model/evaluation/text_evaluation.h"
#include "core/model/model.h"
#include "core/tokenizer/vocabulary.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"
#include "core/trace/trace_file.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// A vocabulary with one token per letter (a = 3) and token 1 at the end of every text.
class Letters final : public Vocabulary {
 public:
  [[nodiscard]] std::vector<std::int64_t> encode(const std::string& text) const override {
    std::vector<std::int64_t> ids;
    for (const char letter : text) ids.push_back(letter - 'a' + 3);
    return ids;
  }
  [[nodiscard]] std::string text_of(std::int64_t id) const override {
    return id < 3 ? "<" + std::to_string(id) + ">"
                  : std::string(1, static_cast<char>('a' + id - 3));
  }
  [[nodiscard]] Encoding encode_texts(const std::string& first,
                                      const std::string* second) const override {
    Encoding encoding = Vocabulary::encode_texts(first, second);
    encoding.ids.push_back(1);
    encoding.types.push_back(0);
    encoding.sources.push_back(-1);
    return encoding;
  }
  [[nodiscard]] bool is_special(std::int64_t id) const override { return id < 3; }
};

ModelSpec small_spec() {
  ModelSpec spec;
  spec.input.kind = InputKind::tokens;
  spec.input.vocabulary = 29;
  spec.readout.kind = Readout::next_token;
  spec.layers = 4;
  spec.tail = {.kind = Tail::decoder, .blocks = 1, .context = 5, .start_token = 2};
  return spec;
}

Input pair_of(std::string first, std::optional<std::string> second) {
  Input input;
  input.content = Text{std::move(first), {}, std::move(second)};
  return input;
}

TEST(DecoderText, BeginsWithTheStartTokenAndDoesNotEnd) {
  const ModelSpec spec = small_spec();
  const Letters letters;
  const Input both = pair_of("abc", "cab");
  const TokenizedText first = tokenize_input(both, spec, letters);
  EXPECT_THAT(first.ids, ElementsAre(3, 4, 5, 1));
  EXPECT_THAT(first.special, ElementsAre(3));
  const TokenizedText second = tokenize_for_decoder(both, spec, letters);
  EXPECT_THAT(second.ids, ElementsAre(2, 5, 3, 4));
  EXPECT_THAT(second.texts, ElementsAre("<2>", "c", "a", "b"));
  EXPECT_THAT(second.special, ElementsAre(0));
  EXPECT_THAT(tokenize_for_decoder(pair_of("abc", {}), spec, letters).ids, ElementsAre(2));
}

TEST(DecoderText, KeepsGivenTokenIds) {
  Input input;
  input.content = Text{"", {3, 4}, {}, {7, 1}};
  EXPECT_THAT(tokenize_for_decoder(input, small_spec(), Letters()).ids, ElementsAre(7, 1));
}

TEST(DecoderText, IsRefusedWithoutAStartAndBeyondTheContext) {
  ModelSpec spec = small_spec();
  const Letters letters;
  EXPECT_THROW((void)tokenize_for_decoder(pair_of("a", "abcdef"), spec, letters), Error);
  spec.tail.start_token = -1;
  const Error error =
      refusal_of([&] { (void)tokenize_for_decoder(pair_of("a", "b"), spec, letters); },
                 testing::Message() << "no start token is known");
  EXPECT_THAT(error.what(), HasSubstr("decoder_start_token_id"));
}

TEST(DecoderText, IsRefusedForOtherModels) {
  ModelSpec spec = small_spec();
  spec.tail = {};
  EXPECT_THROW((void)tokenize_input(pair_of("a", "b"), spec, Letters()), Error);
  Input numbered;
  numbered.content = Text{"", {3, 4}, {}, {7, 1}};
  EXPECT_THROW((void)tokenize_input(numbered, spec, Letters()), Error);
}

class EncoderDecoder : public testing::Test {
 protected:
  EncoderDecoder() {
    (void)folder_.write("config.json",
                        read_test_data("models/families/hugging_face_t5.json")["config"].dump());
    write_hashed_safetensors(folder_ / "model.safetensors", family_shapes("hugging_face_t5"));
    model_ = load_model(folder_.path());
    input_.content = Text{"", {5, 6, 7, 8, 9, 10, 1}, {}, {0, 7, 28, 3}};
  }

  [[nodiscard]] Trace run(const MechanismChoice& mechanism) const {
    return model_->run(input_, mechanism, {}, {});
  }

  const TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
  Input input_;
};

TEST_F(EncoderDecoder, CrossAttentionHasALayerOfItsOwn) {
  const Trace trace = run(model_->spec().mechanism);
  ASSERT_EQ(trace.layers.size(), 4U);
  std::vector<std::string> names;
  for (std::int64_t layer = 0; layer < 4; ++layer) names.push_back(layer_name(trace, layer));
  EXPECT_THAT(names, ElementsAre("encoder 0", "encoder 1", "decoder 0", "cross 0"));
  EXPECT_EQ(trace.layers[1].implied_map.shape(), (Shape{4, 7, 7}));
  EXPECT_EQ(trace.layers[2].implied_map.shape(), (Shape{4, 4, 4}));
  EXPECT_EQ(trace.layers[3].implied_map.shape(), (Shape{4, 4, 7}));
  EXPECT_EQ(trace.layers[2].implied_map.slice(0)(0, 3), 0.0F);
  EXPECT_GT(trace.layers[1].implied_map.slice(0)(0, 6), 0.0F);
  EXPECT_EQ(query_layout(trace, 3).texts.size(), 4U);
  EXPECT_EQ(key_layout(trace, 3).texts.size(), 7U);
  EXPECT_FALSE(trace.uniform());
}

TEST_F(EncoderDecoder, LayersThatAreNotRecordedCountToo) {
  TraceRequest request;
  request.layers = {1, 3};
  const Trace trace = model_->run(input_, model_->spec().mechanism, request, {});
  EXPECT_EQ(layer_name(trace, 1), "encoder 1");
  EXPECT_EQ(layer_name(trace, 2), "decoder 0");
  EXPECT_TRUE(trace.layers[2].implied_map.empty());
}

TEST_F(EncoderDecoder, CanBeOverlaidWithOtherAttention) {
  const Trace trace = run({"adder", {}});
  EXPECT_EQ(trace.layers[3].implied_map.shape(), (Shape{4, 4, 7}));
  EXPECT_EQ(trace.layers[2].implied_map.slice(0)(0, 3), 0.0F);
  EXPECT_GT(trace.layers[0].implied_map.slice(0)(0, 6), 0.0F);
}

TEST_F(EncoderDecoder, RefusesAttentionWithoutACausalForm) {
  int seeing_all = 0;
  for (const MechanismEntry& entry : mechanisms()) {
    if (entry.causal) continue;
    ++seeing_all;
    EXPECT_THAT(error_of([&] {
                  return run({std::string(entry.name), {}});
                }),
                testing::HasSubstr("no causal form"))
        << entry.name;
  }
  EXPECT_GT(seeing_all, 0);
}

TEST_F(EncoderDecoder, ATraceKeepsTheKindOfItsLayers) {
  const std::filesystem::path file = folder_ / "trace.h5";
  write_trace(file, run(model_->spec().mechanism));
  const Trace read = read_trace(file);
  EXPECT_EQ(layer_name(read, 3, 1), "cross 1");
  EXPECT_EQ(query_layout(read, 3).texts.size(), 4U);
  EXPECT_EQ(key_layout(read, 3).texts.size(), 7U);
  EXPECT_EQ(query_layout(read, 0).texts.size(), 7U);
}

TEST_F(EncoderDecoder, IsNotEvaluatedAsALanguageModel) {
  EXPECT_THROW((void)evaluate_text(*model_, model_->spec().mechanism, Text{"", {1, 2, 3}}, {}, {}),
               Error);
}

TEST(EncoderDecoderFamily, AssumesNothingThatBartsCodeFixes) {
  const TemporaryFolder folder;
  (void)folder.write("config.json",
                     read_test_data("models/families/hugging_face_bart.json")["config"].dump());
  write_hashed_safetensors(folder / "model.safetensors", family_shapes("hugging_face_bart"));
  const std::shared_ptr<const Model> model = load_model(folder.path());
  for (const Assumption& assumption : model->assumptions()) {
    EXPECT_NE(assumption.option, "logit_scale") << assumption.reason;
  }
}

TEST(EncoderDecoderFamily, RefusesNumbersOfLayersThatOverflow) {
  const TemporaryFolder folder;
  nlohmann::json config = read_test_data("models/families/hugging_face_bart.json")["config"];
  write_hashed_safetensors(folder / "model.safetensors", family_shapes("hugging_face_bart"));
  // The JSON library compares the second, as a signed number, with smaller ones: it is negative.
  for (const std::uint64_t layers : {std::uint64_t{1} << 54, std::uint64_t{1} << 63}) {
    config["decoder_layers"] = layers;
    (void)folder.write("config.json", config.dump());
    EXPECT_THAT(error_of([&] { return load_model(folder.path()); }),
                AllOf(HasSubstr("decoder_layers"), HasSubstr("2^53")));
  }
}

TEST_F(EncoderDecoder, MapsOfEachKindAreNumberedSeparately) {
  Trace trace;
  trace.layers.resize(3);
  EXPECT_EQ(layer_name(trace, 2), "layer 2");
  EXPECT_EQ(layer_name(trace, 2, 1), "layer 3");
  EXPECT_EQ(layer_kind_named("cross"), LayerKind::cross);
  EXPECT_EQ(layer_kind_named("sideways"), std::nullopt);
}

}  // namespace
}  // namespace attnscope
