#include "core/model/transformer/generation.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const Model> sample(const std::string& name) {
  return load_model(source_folder() + "/sample_data/models/" + name + ".h5");
}

Input words(const std::string& text) {
  Input input;
  input.content = Text{text, {}};
  input.label = "words";
  return input;
}

/// Expects every token to be the likeliest one after a run of the whole text before it.
void expect_likeliest_after_whole_texts(const Model& model, const MechanismChoice& mechanism,
                                        const GeneratedText& text) {
  Input input;
  input.content = Text{{}, text.prompt};
  TraceRequest request;
  request.implied_maps = false;
  for (const GeneratedToken& token : text.tokens) {
    const Tensor logits = model.run(input, mechanism, request, {}).logits;
    const auto last = logits.matrix().row(0);
    Eigen::Index likeliest = 0;
    const double greatest = static_cast<double>(last.maxCoeff(&likeliest));
    ASSERT_EQ(token.chosen.id, likeliest) << "position " << token.position;
    const double sum = (last.cast<double>().array() - greatest).exp().sum();
    EXPECT_NEAR(token.chosen.probability, 1 / sum, 1e-5);
    std::get<Text>(input.content).ids.push_back(token.chosen.id);
  }
}

class GenerationBy : public testing::TestWithParam<const char*> {};

TEST_P(GenerationBy, TakesTheLikeliestTokenAfterTheWholeText) {
  const auto model = sample("shakespeare-softmax");
  const MechanismChoice mechanism = make_mechanism({GetParam(), {}})->choice();
  const GeneratedText text =
      generate(*model, words("To be, or "), mechanism, {.tokens = 12, .sampling = {}});
  EXPECT_TRUE(text.kept_keys) << GetParam();
  ASSERT_EQ(text.tokens.size(), 12U);
  expect_likeliest_after_whole_texts(*model, mechanism, text);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, GenerationBy,
                         testing::Values("softmax", "adder", "ssmax", "sparsemax", "sigmoid",
                                         "relu", "entmax"));

TEST(Generation, RunsWholeTextsWhereKeysAreNotEnough) {
  const auto model = sample("shakespeare-fastformer");
  const MechanismChoice& mechanism = model->spec().mechanism;
  const GeneratedText text =
      generate(*model, words("To be"), mechanism, {.tokens = 5, .sampling = {}});
  EXPECT_FALSE(text.kept_keys);
  expect_likeliest_after_whole_texts(*model, mechanism, text);
  const auto softmax = sample("shakespeare-softmax");
  for (const char* const name : {"forgetting", "gated-delta", "linear"}) {
    const MechanismChoice choice = make_mechanism({name, {}})->choice();
    const GeneratedText one =
        generate(*softmax, words("To be"), choice, {.tokens = 2, .sampling = {}});
    EXPECT_FALSE(one.kept_keys) << name;
    expect_likeliest_after_whole_texts(*softmax, choice, one);
  }
  const MechanismChoice with_identity =
      make_mechanism({"adder", {{"identity", ParameterValue(true)}}})->choice();
  EXPECT_FALSE(
      generate(*softmax, words("To"), with_identity, {.tokens = 1, .sampling = {}}).kept_keys);
}

TEST(Generation, RecordsProbabilitiesEntropiesAndAlternatives) {
  const auto model = sample("shakespeare-softmax");
  const GeneratedText text = generate(*model, words("To be"), model->spec().mechanism,
                                      {.tokens = 2, .sampling = {}, .alternatives = 1000});
  ASSERT_EQ(text.tokens.size(), 2U);
  const GeneratedToken& token = text.tokens[0];
  EXPECT_EQ(token.position, 5);
  double sum = 0, entropy = 0;
  for (const TokenAlternative& one : token.alternatives) {
    sum += one.probability;
    entropy -= one.probability * std::log2(one.probability);
  }
  EXPECT_EQ(std::ssize(token.alternatives), model->spec().input.vocabulary);
  EXPECT_EQ(token.alternatives.front().id, token.chosen.id);
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(token.entropy, entropy, 1e-12);
  EXPECT_EQ(text.text(), token.chosen.text + text.tokens[1].chosen.text);
  EXPECT_EQ(text.ids().size(), 7U);
}

TEST(Generation, EndsWhereTheContextIsFull) {
  const auto model = sample("shakespeare-softmax");
  const std::int64_t context = model->spec().input.context;
  const std::string full(static_cast<std::size_t>(context), 'a');
  const GeneratedText text =
      generate(*model, words(full), model->spec().mechanism, {.tokens = 3, .sampling = {}});
  EXPECT_EQ(text.end, GenerationEnd::context);
  EXPECT_EQ(text.tokens.size(), 1U) << "the token after a full context is known";
}

TEST(Generation, DrawsEqualTextsFromEqualSeeds) {
  const auto model = sample("shakespeare-softmax");
  const auto drawn = [&](std::uint64_t seed) {
    return generate(*model, words("To be"), model->spec().mechanism,
                    {.tokens = 30, .sampling = {.temperature = 1, .seed = seed}})
        .text();
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

TEST(Generation, CallsForEachTokenAtOnceAndStopsWhenCancelled) {
  const auto model = sample("shakespeare-softmax");
  std::stop_source stop;
  std::vector<std::int64_t> positions;
  const auto made = [&](const GeneratedToken& token) {
    positions.push_back(token.position);
    if (positions.size() == 3) stop.request_stop();
  };
  EXPECT_THROW((void)generate(*model, words("To be"), model->spec().mechanism,
                              {.tokens = 30, .sampling = {}}, made, Progress({}, stop.get_token())),
               Cancelled);
  EXPECT_THAT(positions, ElementsAre(5, 6, 7));
}

TEST(ContinuedLocator, HasCharactersWhereTheyGiveTheSameTokens) {
  const auto model = sample("shakespeare-softmax");
  EXPECT_EQ(continued_locator(*model, words("To be"), {39, 52}), "text:To bean");
  Input ids;
  ids.content = Text{{}, {32, 53}};
  EXPECT_EQ(continued_locator(*model, ids, {39}), "ids:32,53,39");
  const std::string full(256, 'a');
  EXPECT_THAT(error_of([&] { return continued_locator(*model, words(full), {39}); }),
              HasSubstr("context is full"));
}

TEST(Generation, RefusesOtherModelsAndSettings) {
  const auto images = sample("fashion-softmax");
  EXPECT_THAT(error_of([&] {
                return generate(*images, words("a"), {"softmax", {}}, {});
              }),
              HasSubstr("does not predict the next token"));
  const auto model = sample("shakespeare-softmax");
  const auto refused = [&](const GenerationSettings& settings) {
    return error_of([&] { return generate(*model, words("a"), {"softmax", {}}, settings); });
  };
  EXPECT_THAT(refused({.tokens = 0, .sampling = {}}), HasSubstr("tokens"));
  EXPECT_THAT(refused({.sampling = {.temperature = -1}}), HasSubstr("temperature"));
  EXPECT_THAT(refused({.sampling = {.top_k = -1}}), HasSubstr("top_k"));
  EXPECT_THAT(refused({.sampling = {.top_p = 0}}), HasSubstr("top_p"));
  EXPECT_THAT(refused({.sampling = {.top_p = NAN}}), HasSubstr("top_p"));
}

// Probabilities 0.1, 0.4, 0.3, 0.2 at temperature 1.
const std::vector<double> kLogits = {std::log(1.0), std::log(4.0), std::log(3.0), std::log(2.0)};

TEST(NextToken, FollowsTheProbabilitiesOfThoseThatAreKept) {
  const auto token = [](const TokenSampling& sampling, double at) {
    return next_token(kLogits, sampling, at);
  };
  EXPECT_EQ(token({}, 0.99), 1);
  const TokenSampling all{.temperature = 1};
  EXPECT_EQ(token(all, 0), 1);
  EXPECT_EQ(token(all, 0.399), 1);
  EXPECT_EQ(token(all, 0.401), 2);
  EXPECT_EQ(token(all, 0.701), 3);
  EXPECT_EQ(token(all, 0.901), 0);
  const TokenSampling two{.temperature = 1, .top_k = 2};  // 4/7 and 3/7
  EXPECT_EQ(token(two, 0.57), 1);
  EXPECT_EQ(token(two, 0.58), 2);
  EXPECT_EQ(token(two, 0.999), 2);
  const TokenSampling most{.temperature = 1, .top_p = 0.7};  // 0.4 + 0.3
  EXPECT_EQ(token(most, 0.999), 2);
  const TokenSampling more{.temperature = 1, .top_p = 0.71};
  EXPECT_EQ(token(more, 0.999), 3);
  const TokenSampling of_two{.temperature = 1, .top_k = 2, .top_p = 0.5};  // 4/7 is enough
  EXPECT_EQ(token(of_two, 0.999), 1);
  const TokenSampling sharp{.temperature = 0.5};  // squares: 16, 9, 4, 1 of 30
  EXPECT_EQ(token(sharp, 0.532), 1);
  EXPECT_EQ(token(sharp, 0.534), 2);
}

TEST(NextToken, RefusesLogitsThatAreNotFinite) {
  EXPECT_THAT(error_of([] { return next_token({0, NAN}, {}, 0); }), HasSubstr("not finite"));
  EXPECT_THAT(error_of([] {
                return next_token({-INFINITY, -INFINITY}, {}, 0);
              }),
              HasSubstr("not finite"));
  EXPECT_EQ(next_token({-INFINITY, 0}, {.temperature = 1}, 0.5), 1) << "a token that is masked";
}

}  // namespace
}  // namespace attnscope
