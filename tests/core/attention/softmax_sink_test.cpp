// Softmax with a sink: comparison with PyTorch, and its own properties. mechanism_test.cpp checks
// the requirements of all mechanisms.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "tests/support/naive_attention.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

std::unique_ptr<const Mechanism> softmax_with_sink(double sink) {
  return make_mechanism({"softmax-sink", {{"sink", sink}}});
}

// Whole and causal maps, a window, and scores whose exponentials overflow. The first query of a
// causal layer sees one key.
TEST(SoftmaxSink, MapsAndOutputsArePyTorchs) {
  for (const nlohmann::json& reference :
       read_test_data("attention/softmax_sink.json").at("cases")) {
    expect_reference(*softmax_with_sink(reference.at("sink")), reference);
  }
}

TEST(SoftmaxSink, RowsComputedOnRequestAreThoseOfTheMap) {
  const RandomAttention data(70, 70, 2, 4, 4, 7);
  AttentionInput input = data.input();
  input.causal = true;
  const auto mechanism = softmax_with_sink(1);
  const Tensor map = mechanism->implied_map(input);
  const MapRows rows = mechanism->map_rows(input);
  for (std::int64_t head = 0; head < 2; ++head) {
    Matrix found(70, 70);
    rows(head, 0, {found.data(), 70, 70, Eigen::OuterStride<>(70)});
    EXPECT_LT((found - map.slice(head)).cwiseAbs().maxCoeff(), 1e-6F);
  }
}

// Without a score above the sink, the sink takes its share: M equal scores of 0 leave it 1/(M + 1).
TEST(SoftmaxSink, TakesTheShareThatTheKeysDoNotGet) {
  RandomAttention data(5, 9, 1, 3, 3, 7);
  data.queries.matrix().setZero();
  const Tensor map = softmax_with_sink(0)->implied_map(data.input());
  for (const float weight : map.values()) EXPECT_NEAR(weight, 0.1, 1e-7);
}

TEST(SoftmaxSink, FarBelowTheScoresIsSoftmax) {
  const RandomAttention data(20, 20, 2, 4, 4, 7);
  const Tensor plain = make_mechanism({"softmax", {}})->implied_map(data.input());
  EXPECT_TRUE(std::ranges::equal(softmax_with_sink(-100)->implied_map(data.input()).values(),
                                 plain.values()));
}

TEST(SoftmaxSink, ComesInAdditionToTheSinksOfTheModel) {
  const RandomAttention data(20, 20, 2, 4, 4, 7);
  AttentionInput input = data.input();
  ScoreTerms terms;
  terms.sinks = {std::log(2.0F), std::log(4.0F)};
  input.terms = &terms;
  const Tensor found = softmax_with_sink(std::log(3.0))->implied_map(input);
  terms.sinks = {std::log(5.0F), std::log(7.0F)};
  const Tensor expected = make_mechanism({"softmax", {}})->implied_map(input);
  for (std::size_t i = 0; i < expected.values().size(); ++i) {
    ASSERT_NEAR(found.values()[i], expected.values()[i], 1e-6);
  }
}

}  // namespace
}  // namespace attnscope
