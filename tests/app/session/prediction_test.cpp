#include "app/session/prediction.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "core/model/model.h"
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

/// A model with a given readout that computes nothing.
class AnsweringModel final : public Model {
 public:
  explicit AnsweringModel(Readout readout) { spec_.readout.kind = readout; }
  [[nodiscard]] const ModelSpec& spec() const override { return spec_; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::filesystem::path& file() const override { return file_; }
  [[nodiscard]] const std::string& architecture() const override { return name_; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override { return assumptions_; }
  [[nodiscard]] Trace run(const Input& /*input*/, const MechanismChoice& /*mechanism*/,
                          const TraceRequest& /*request*/,
                          const Progress& /*progress*/) const override {
    return {};
  }

 private:
  ModelSpec spec_;
  std::string name_;
  std::filesystem::path file_;
  std::vector<Assumption> assumptions_;
};

TEST(Prediction, IsTheSoftmaxOfTheLogitsInDescendingOrder) {
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

TEST(Prediction, KnowsTheTrueClassIfTheInputHasIt) {
  Subject subject = answering({1, 3, 2}, {"coat", "boot", "bag"});
  EXPECT_FALSE(prediction_of(subject, 1)->right());
  set_true_class(subject, 2);
  EXPECT_EQ(prediction_of(subject, 1)->right(), false);
  EXPECT_EQ(prediction_of(subject, 1)->true_class->name, "bag");
  set_true_class(subject, 1);
  EXPECT_EQ(prediction_of(subject, 1)->right(), true);
  set_true_class(subject, 7);  // a class of another data set
  EXPECT_FALSE(prediction_of(subject, 1)->true_class);
}

TEST(Prediction, PredictsTheNextTokenOfAnEncoderDecoder) {
  Subject subject = answering({1, 3, 2});
  EXPECT_FALSE(prediction_of(subject, 1)->next_token);
  Trace trace = *subject.trace;
  trace.images.clear();
  trace.layers.back().kind = LayerKind::decoder;
  subject.trace = std::make_shared<const Trace>(std::move(trace));
  EXPECT_TRUE(prediction_of(subject, 1)->next_token);
}

TEST(Prediction, AModelOfMaskedTokensGivesNone) {
  Subject subject = answering({1, 3, 2});
  subject.model = std::make_shared<AnsweringModel>(Readout::masked_token);
  EXPECT_FALSE(prediction_of(subject, 1)) << "what the last token stands for is no answer";
}

TEST(Prediction, NeedsFiniteLogits) {
  const auto prediction = prediction_of(answering({1, std::numeric_limits<float>::quiet_NaN()}), 2);
  ASSERT_TRUE(prediction);
  EXPECT_FALSE(prediction->finite);
  EXPECT_TRUE(prediction->likeliest.empty());
}

TEST(Prediction, IsMissingWithoutATraceOrLogits) {
  EXPECT_FALSE(prediction_of(Subject{}, 3));
  EXPECT_FALSE(prediction_of(answering({}), 3));
}

}  // namespace
}  // namespace attnscope
