#include "app/session/prediction.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "tests/app/support/session_fixture.h"

namespace attnscope {
namespace {

Subject answering(std::vector<float> logits, std::vector<std::string> labels = {}) {
  Trace trace = sample_trace(1, 1, 2, 1);
  const auto count = static_cast<std::int64_t>(logits.size());
  trace.logits = Tensor({count}, std::move(logits));
  trace.labels = std::move(labels);
  Subject subject;
  subject.trace = std::make_shared<const Trace>(std::move(trace));
  return subject;
}

void set_true_class(Subject& subject, int index) {
  Input input;
  input.class_index = index;
  subject.input = std::make_shared<const Input>(std::move(input));
}

TEST(Prediction, IsTheSoftmaxOfTheLogitsTheLikeliestFirst) {
  const Subject subject = answering({1, 3, 2, -50}, {"coat", "boot", "bag"});
  const auto prediction = prediction_of(subject, 4);
  ASSERT_TRUE(prediction);
  ASSERT_EQ(prediction->likeliest.size(), 4U);
  EXPECT_EQ(prediction->likeliest[0].name, "boot");
  EXPECT_EQ(prediction->likeliest[1].name, "bag");
  EXPECT_EQ(prediction->likeliest[3].name, "class 3") << "no label is known";
  double sum = 0;
  for (const Answer& answer : prediction->likeliest) sum += answer.probability;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(prediction->likeliest[0].probability / prediction->likeliest[2].probability,
              std::exp(2.0), 1e-12);
  EXPECT_EQ(prediction_of(subject, 2)->likeliest.size(), 2U);
}

TEST(Prediction, LargeLogitsDoNotOverflow) {
  const auto prediction = prediction_of(answering({1000, 999}), 2);
  EXPECT_NEAR(prediction->likeliest[0].probability, 1 / (1 + std::exp(-1.0)), 1e-12);
}

TEST(Prediction, KnowsTheTrueClassWhereTheInputSaysIt) {
  Subject subject = answering({1, 3, 2}, {"coat", "boot", "bag"});
  EXPECT_FALSE(prediction_of(subject, 1)->right());
  set_true_class(subject, 2);
  EXPECT_EQ(prediction_of(subject, 1)->right(), false);
  EXPECT_EQ(prediction_of(subject, 1)->true_class->name, "bag");
  set_true_class(subject, 1);
  EXPECT_EQ(prediction_of(subject, 1)->right(), true);
  set_true_class(subject, 7);  // of another set of classes
  EXPECT_FALSE(prediction_of(subject, 1)->true_class);
}

TEST(Prediction, NeedsFiniteLogits) {
  const auto prediction = prediction_of(answering({1, std::numeric_limits<float>::quiet_NaN()}), 2);
  ASSERT_TRUE(prediction);
  EXPECT_FALSE(prediction->finite);
  EXPECT_TRUE(prediction->likeliest.empty());
}

TEST(Prediction, IsNoneWithoutATraceOrLogits) {
  EXPECT_FALSE(prediction_of(Subject{}, 3));
  EXPECT_FALSE(prediction_of(answering({}), 3));
}

}  // namespace
}  // namespace attnscope
