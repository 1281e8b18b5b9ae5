// Language models compared with PyTorch in double precision on the weights that
// tests/data/language/make_reference.py commits, and requirements of every causal model.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <tuple>

#include "core/attention/additive_state.h"
#include "core/error.h"
#include "core/model/evaluation/text_evaluation.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/near.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

constexpr float kLanguageTolerance = 1e-5F;

std::filesystem::path model_file(const std::string& name) {
  return test_data("language/" + name + "/model.safetensors");
}

Input text_input(std::vector<std::int64_t> ids) {
  Input input;
  input.content = Text{{}, std::move(ids)};
  input.label = "ids";
  return input;
}

Trace run(const Model& model, std::vector<std::int64_t> ids,
          std::optional<MechanismChoice> mechanism = {}) {
  TraceRequest request;
  request.token_logits = true;
  request.tokens = true;
  return model.run(text_input(std::move(ids)), mechanism.value_or(model.spec().mechanism), request,
                   {});
}

Tensor part(const Tensor& whole, std::int64_t first, Shape shape) {
  const std::int64_t count = element_count(shape);
  const auto begin = whole.values().begin() + first * count;
  return {std::move(shape), std::vector<float>(begin, begin + count)};
}

struct FastformerCase {
  const char* folder;
  const char* architecture;
  std::map<std::string, std::string> said = {};  ///< options that no tensor name gives
};

class LanguageModel : public testing::TestWithParam<FastformerCase> {};

TEST_P(LanguageModel, ComputesWhatPyTorchDoes) {
  const auto model = load_model(model_file(GetParam().folder), {GetParam().said, {}});
  EXPECT_EQ(model->architecture(), GetParam().architecture);
  EXPECT_EQ(model->spec().input.vocabulary, 29);
  EXPECT_EQ(model->spec().input.context, 24);
  EXPECT_EQ(model->spec().layer.attention.heads, 2);
  const Checkpoint expected =
      open_checkpoint(test_data("language/" + std::string(GetParam().folder) + "/expected.npz"));
  const Trace trace = run(*model, expected.at("ids").view().to_int64());
  EXPECT_TRUE(trace.causal);
  EXPECT_TRUE(trace.mechanism_trained);
  const Tensor logits = expected.at("logits").view().to_float();
  expect_near(trace.token_logits, logits, kLanguageTolerance);
  expect_near(trace.logits, part(logits, 18, {29}), kLanguageTolerance);
  const Tensor maps = expected.at("maps").view().to_float();
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    expect_near(trace.layers[static_cast<std::size_t>(layer)].implied_map.whole(),
                part(maps, layer, {2, 19, 19}), kLanguageTolerance);
  }
  if (!expected.find("importance_logits")) return;
  const Tensor importances = expected.at("importance_logits").view().to_float();
  for (std::int64_t layer = 0; layer < 3; ++layer) {
    const NamedTensors& found = trace.layers[static_cast<std::size_t>(layer)].quantities;
    expect_near(found.at("query_logits"), part(importances, 2 * layer, {2, 19}), 2e-5F);
    expect_near(found.at("key_logits"), part(importances, 2 * layer + 1, {2, 19}), 2e-5F);
  }
}

TEST_P(LanguageModel, LaterTokensChangeNothingEarlier) {
  const auto model = load_model(model_file(GetParam().folder), {GetParam().said, {}});
  std::vector<MechanismChoice> choices = {model->spec().mechanism};
  for (const MechanismEntry& entry : mechanisms()) {
    if (!entry.causal) continue;
    MechanismChoice choice{std::string(entry.name), {}};
    if (find_description(entry.parameters, "conv_heads")) {
      choice.parameters = {{"conv_heads", std::int64_t{1}}};
    }
    choices.push_back(std::move(choice));
  }
  const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  std::vector<std::int64_t> changed = ids;
  for (std::size_t i = 7; i < changed.size(); ++i) changed[i] = 28 - changed[i];
  for (const MechanismChoice& choice : choices) {
    const Trace before = run(*model, ids, choice), after = run(*model, changed, choice);
    const Trace prefix = run(*model, {ids.begin(), ids.begin() + 7}, choice);
    for (Eigen::Index token = 0; token < 7; ++token) {
      const auto row = before.token_logits.matrix().row(token);
      ASSERT_LT((row - after.token_logits.matrix().row(token)).cwiseAbs().maxCoeff(), 1e-6F)
          << to_string(choice) << ", token " << token;
      // Matrix products with another number of rows are summed in another order.
      const float size = std::max(1.0F, row.cwiseAbs().maxCoeff());
      ASSERT_LT((row - prefix.token_logits.matrix().row(token)).cwiseAbs().maxCoeff(), 1e-5F * size)
          << to_string(choice) << ", token " << token;
    }
    for (const LayerTrace& layer : before.layers) {
      for (std::int64_t head = 0; head < layer.implied_map.extent(0); ++head) {
        for (Eigen::Index i = 0; i < 12; ++i) {
          ASSERT_EQ(layer.implied_map.slice(head).row(i).tail(11 - i).cwiseAbs().sum(), 0.0F)
              << to_string(choice);
        }
      }
    }
  }
}

const std::map<std::string, std::string> kMinGptCode = {
    {"scale", "head_width^-1/2"}, {"norm_position", "pre"}, {"activation", "gelu"}};

TEST(CausalLanguageModel, WindowsOfATextHaveOneDimensionUnlessToldOtherwise) {
  const auto model = load_model(model_file("gpt2"));
  MechanismChoice choice{"daft-conv", {{"conv_heads", std::int64_t{1}}}};
  const Trace left_out = run(*model, {3, 1, 4, 1, 5}, choice);
  EXPECT_EQ(left_out.mechanism.parameters.at("dimensions"), ParameterValue(std::int64_t{1}));
  choice.parameters["dimensions"] = std::int64_t{1};
  const Trace said = run(*model, {3, 1, 4, 1, 5}, choice);
  EXPECT_EQ(left_out.token_logits.extent(0), 5);
  EXPECT_TRUE(left_out.token_logits.matrix() == said.token_logits.matrix());
  choice.parameters["dimensions"] = std::int64_t{2};
  EXPECT_THROW((void)run(*model, {3, 1, 4, 1, 5}, choice), Error);
}

INSTANTIATE_TEST_SUITE_P(Families, LanguageModel,
                         testing::Values(FastformerCase{"gpt2", "Hugging Face GPT-2"},
                                         FastformerCase{"nanogpt", "minGPT or nanoGPT"},
                                         FastformerCase{"mingpt_2020", "transformer by its names",
                                                        kMinGptCode},
                                         FastformerCase{"fastformer", "Fastformer-LM"},
                                         FastformerCase{"fastformer_later", "Fastformer-LM"}),
                         [](const auto& info) { return std::string(info.param.folder); });

TEST(Fastformer, ReadsItsWindowsFromTheConfiguration) {
  const auto model = load_model(model_file("fastformer"));
  ASSERT_EQ(model->spec().layer_mechanisms.size(), 3U);
  EXPECT_EQ(to_string(model->spec().layer_mechanisms[1]), "additive (causal=true, window=5)");
  EXPECT_EQ(model->spec().layer.form, LayerForm::fastformer);
  EXPECT_EQ(load_model(model_file("fastformer_later"))->spec().layer.form,
            LayerForm::fastformer_rescaled);
}

TEST(Fastformer, AWindowOfTheWholeTextHasNoEffect) {
  const auto model = load_model(model_file("fastformer"));
  const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5, 9, 2, 6};
  const auto with = [&](std::int64_t window) {
    return run(*model, ids, MechanismChoice{"additive", {{"causal", true}, {"window", window}}});
  };
  const Trace whole = with(0);
  expect_near(with(8).token_logits, whole.token_logits, 1e-6F);
  expect_near(with(1000).token_logits, whole.token_logits, 1e-6F);
  EXPECT_FALSE(whole.mechanism_trained);
  EXPECT_FALSE(whole.layers[1].mechanism.has_value());
  const Trace own = run(*model, ids);
  EXPECT_EQ(to_string(*own.layers[1].mechanism), "additive (causal=true, window=5)");
}

/// The row of token t equals the weights of the recurrence after t steps, read from its mean of
/// unit vectors.
TEST(Fastformer, EveryTokenEqualsTheRecurrenceAtItsStep) {
  const auto model = load_model(model_file("fastformer"));
  const std::vector<std::int64_t> ids = {7, 7, 2, 28, 0, 11, 13, 5, 1, 20};
  const Trace trace = run(*model, ids);
  constexpr std::int64_t windows[] = {2, 5, 24};
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const Tensor& logits = trace.layers[layer].quantities.at("query_logits");
    for (std::int64_t head = 0; head < 2; ++head) {
      AdditiveState state(10, windows[layer]);
      for (std::int64_t token = 0; token < 10; ++token) {
        std::vector<float> unit(10), mean(10);
        unit[static_cast<std::size_t>(token)] = 1;
        state.push(logits.matrix()(head, token), unit, mean);
        for (std::int64_t key = 0; key < 10; ++key) {
          ASSERT_NEAR(trace.layers[layer].implied_map.slice(head)(token, key),
                      mean[static_cast<std::size_t>(key)], 1e-6F);
        }
      }
    }
  }
}

void expect_refused(const Model& model, const Input& input, const std::string& part) {
  const Error error = refusal_of([&] { (void)model.run(input, model.spec().mechanism, {}, {}); },
                                 testing::Message() << "expected: " << part);
  EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

TEST(LanguageModelInput, ReportsInvalidInputs) {
  const auto model = load_model(model_file("gpt2"));
  expect_refused(*model, text_input(std::vector<std::int64_t>(25, 1)), "at most 24 tokens");
  expect_refused(*model, text_input({1, 29}), "0 to 28");
  Input words;
  words.content = Text{"To be", {}};
  expect_refused(*model, words, "vocab.json");
  Input image;
  image.content = Image{2, 2, 1, {0, 0, 0, 0}};
  image.label = "cat.png";
  expect_refused(*model, image, "reads a text");
}

TEST(LanguageModelInput, RefusesAttentionThatLooksAhead) {
  const auto model = load_model(model_file("gpt2"));
  int looking_ahead = 0;
  for (const MechanismEntry& entry : mechanisms()) {
    if (entry.causal) continue;
    ++looking_ahead;
    const MechanismChoice choice{std::string(entry.name), {}};
    EXPECT_NE(error_of([&] {
                return run(*model, {1, 2}, choice);
              }).find("no causal form"),
              std::string::npos)
        << entry.name;
  }
  EXPECT_GT(looking_ahead, 0);
}

TEST(LanguageModelFile, AWindowOfNoTokenIsRefused) {
  const TemporaryFolder folder;
  const auto file = folder.write("model.safetensors", read_bytes(model_file("fastformer")));
  (void)folder.write("config.json", R"({"n_heads": 2, "window_sizes": [4, 0, 8]})");
  expect_refusal([&] { return load_model(file); }, ErrorKind::damaged, "at least one token",
                 "config.json");
}

TEST(LanguageModelFile, ListsAssumptionsWithoutAConfiguration) {
  const TemporaryFolder folder;
  const auto file = folder.write("model.safetensors", read_bytes(model_file("fastformer")));
  const auto model = load_model(file);
  EXPECT_EQ(model->spec().layer.attention.heads, 4);
  EXPECT_EQ(to_string(model->spec().layer_mechanisms[1]), "additive (causal=true, window=8)");
  EXPECT_EQ(to_string(model->spec().layer_mechanisms[2]), "additive (causal=true, window=0)");
  EXPECT_TRUE(std::ranges::any_of(model->assumptions(), [](const Assumption& assumption) {
    return assumption.option == "layer_mechanisms";
  }));
}

TEST(TextEvaluation, IsTheMeanLossOfTheLogits) {
  const auto model = load_model(model_file("nanogpt"));
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 60; ++i) ids.push_back(i * i % 29);
  const TextEvaluation result =
      evaluate_text(*model, model->spec().mechanism, Text{{}, ids}, {}, {});
  EXPECT_EQ(result.predicted, 59);
  double nats = 0;
  for (std::size_t first = 0; first < 59; first += 24) {
    const std::size_t last = std::min<std::size_t>(first + 24, 59);
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
    const Trace trace = run(*model, {begin, ids.begin() + static_cast<std::ptrdiff_t>(last)});
    for (std::size_t i = first; i < last; ++i) {
      const auto row = trace.token_logits.matrix().row(static_cast<Eigen::Index>(i - first));
      double sum = 0;
      for (Eigen::Index id = 0; id < 29; ++id) sum += std::exp(static_cast<double>(row(id)));
      nats += std::log(sum) - static_cast<double>(row(ids[i + 1]));
    }
  }
  EXPECT_NEAR(result.nats, nats, 1e-4);
  EXPECT_NEAR(result.bits_per_token(), nats / 59 / std::log(2), 1e-5);
  // This file has no tokenizer next to it.
  EXPECT_EQ(result.characters, 0);
  EXPECT_TRUE(std::isnan(result.bits_per_character()));
  EXPECT_THROW((void)evaluate_text(*model, {}, Text{{}, {3}}, {}, {}), Error);
}

TEST(LanguageModelFile, AFolderIsNamedIndependentlyOfItsSpelling) {
  const std::filesystem::path folder = test_data("language/nanogpt");
  for (const char* const more : {"", "/", "/.", "/../nanogpt/"}) {
    EXPECT_EQ(load_model(folder.string() + more)->name(), "nanogpt") << more;
  }
}

}  // namespace
}  // namespace attnscope
