// Gradient relevance compared with PyTorch's autograd in double precision.
#include "analysis/relevance/relevance.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "analysis/figure/recipe.h"
#include "core/error.h"
#include "tests/support/inside_models.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

std::vector<double> from_pytorch(const std::string& array) {
  const Checkpoint file = open_checkpoint(source_folder() + "/tests/data/inside/relevance.npz");
  const Tensor numbers = file.at(array).view().to_float();
  return {numbers.values().begin(), numbers.values().end()};
}

/// Expects each relevance to within 1e-5 of the largest relevance of another token.
void expect_as_pytorch(const TokenRelevance& found, const std::string& array) {
  const std::vector<double> expected = from_pytorch(array);
  ASSERT_EQ(found.tokens.size(), expected.size());
  double greatest = 0;
  for (std::size_t token = 0; token < expected.size(); ++token) {
    if (static_cast<std::int64_t>(token) != found.place) {
      greatest = std::max(greatest, expected[token]);
    }
  }
  ASSERT_GT(greatest, 0);
  for (std::size_t token = 0; token < expected.size(); ++token) {
    const bool own = static_cast<std::int64_t>(token) == found.place;
    EXPECT_NEAR(found.tokens[token], expected[token], own ? 1e-6 : 1e-5 * greatest)
        << array << " token " << token;
  }
}

TEST(Relevance, AgreesWithPyTorchForClasses) {
  const InsideModel vit("vit");
  const std::vector<TokenRelevance> found = token_relevance(vit.subject(), {3, 1});
  ASSERT_EQ(found.size(), 2U);
  expect_as_pytorch(found[0], "vit_3");
  expect_as_pytorch(found[1], "vit_1");
  EXPECT_EQ(found[0].place, 0);
  EXPECT_NE(found[0].tokens, found[1].tokens) << "each class rests on tokens of its own";
  EXPECT_NEAR(found[0].logit, vit.expected("logits")(0, 3), 1e-5);
}

TEST(Relevance, AgreesWithPyTorchForTokens) {
  // This model divides scores by the layer's number, which is folded into the weights.
  const InsideModel gpt2("gpt2");
  expect_as_pytorch(token_relevance(gpt2.subject(), {7})[0], "gpt2_7");
  const TokenRelevance within = token_relevance(gpt2.subject(), {7}, 10)[0];
  expect_as_pytorch(within, "gpt2_7_at_10");
  EXPECT_EQ(within.place, 10);
  EXPECT_EQ(within.tokens[11], 0) << "what comes later is not seen";
}

TEST(Relevance, UsesTheMostProbableClassByDefault) {
  const InsideModel vit("vit");
  const auto logits = vit.subject().trace->logits.values();
  const auto likeliest = std::max_element(logits.begin(), logits.end()) - logits.begin();
  EXPECT_EQ(token_relevance(vit.subject())[0].target, likeliest);
}

TEST(Relevance, NamesThePartWithoutBackward) {
  const InsideModel bert("bert");
  Subject subject = bert.subject();
  const Error error = refusal_of([&] { (void)token_relevance(subject, {0}); },
                                 testing::Message() << "norms after attention have no backward");
  EXPECT_TRUE(error.kind() == ErrorKind::usage || error.kind() == ErrorKind::unsupported);
  const InsideModel vit("vit");
  subject = vit.subject();
  subject.mechanism = {"hash", {}};
  EXPECT_THROW((void)token_relevance(subject, {0}), Error) << "hashes have no gradient";
  EXPECT_THROW((void)token_relevance(vit.subject(), {99}), Error);
  EXPECT_THROW((void)token_relevance(vit.subject(), {0}, 3), Error);
  const auto without = std::make_shared<Trace>(*vit.subject().trace);
  without->embedded = {};
  subject = vit.subject();
  subject.trace = without;
  EXPECT_THROW((void)token_relevance(subject, {0}), Error);
}

TEST(Relevance, FigureHasAMapForEachClass) {
  const InsideModel vit("vit");
  FigureRequest request;
  request.subjects = {vit.subject()};
  request.settings = parse_settings("relevance", {{"targets", "3,1"}});
  const Figure figure = make_figure("relevance", request);
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.numbers.at("relevance/vit/3").size(), 17U);
}

TEST(Relevance, FigureOfATextShowsItsTokens) {
  const InsideModel gpt2("gpt2");
  FigureRequest request;
  request.subjects = {gpt2.subject()};
  request.settings = parse_settings("relevance", {{"targets", "7"}, {"place", "10"}});
  const Figure figure = make_figure("relevance", request);
  ASSERT_EQ(figure.panels.size(), 1U);
  EXPECT_EQ(figure.numbers.at("relevance/gpt2/7").size(), 19U);
}

}  // namespace
}  // namespace attnscope
