// Maps that are computed on demand: their rows equal those of stored maps.
#include "tests/support/computed_maps.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/attention/score_terms.h"
#include "core/error.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/support/naive_attention.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

double greatest_difference(const ImpliedMaps& some, const ImpliedMaps& others) {
  double greatest = 0;
  for (std::int64_t head = 0; head < some.extent(0); ++head) {
    const Matrix difference = some.head(head) - others.head(head);
    greatest = std::max(greatest, static_cast<double>(difference.array().abs().maxCoeff()));
  }
  return greatest;
}

class ComputedMapsOf : public testing::TestWithParam<MechanismChoice> {};

TEST_P(ComputedMapsOf, AreTheImpliedMaps) {
  const auto mechanism = make_mechanism(GetParam());
  constexpr std::int64_t kTokens = 150, kHeads = 4;
  RandomAttention data(kTokens, kTokens, kHeads, 16, 1, 3);
  AttentionInput input = data.input();
  for (const bool causal : {false, true}) {
    input.causal = causal;
    const ImpliedMaps held = mechanism->implied_map(input);
    ImpliedMaps computed = computed_from(*mechanism, input);
    ASSERT_TRUE(computed.are_computed());
    EXPECT_FALSE(computed.empty());
    EXPECT_EQ(computed.shape(), held.shape());
    EXPECT_EQ(computed.bytes(), 2 * kTokens * kHeads * 16 * 4);
    EXPECT_LT(greatest_difference(computed, held), 1e-6);
    for (const std::int64_t query : {0L, 63L, 64L, 149L}) {
      EXPECT_LT((computed.row(2, query) - held.row(2, query)).cwiseAbs().maxCoeff(), 1e-6);
      EXPECT_NEAR(computed.at(1, query, 7), held.at(1, query, 7), 1e-6);
    }
    ImpliedMaps changed = held;
    changed.add_to_diagonals(1);
    computed.add_to_diagonals(1);
    EXPECT_LT(greatest_difference(computed, changed), 1e-6);
    EXPECT_NEAR(computed.at(3, 70, 70), changed.at(3, 70, 70), 1e-6);
    EXPECT_THROW((void)computed.whole(), Error);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ComputedMapsOf,
                         testing::Values(MechanismChoice{"softmax", {}},
                                         MechanismChoice{"adder", {}},
                                         MechanismChoice{"adder", {{"identity", true}}}));

TEST(ComputedMaps, OutliveTheirQueriesAndKeys) {
  const auto mechanism = make_mechanism({"adder", {}});
  Tensor held;
  ImpliedMaps computed;
  {
    const RandomAttention data(80, 80, 2, 8, 1, 5);
    held = mechanism->implied_map(data.input());
    computed = computed_from(*mechanism, data.input());
  }
  EXPECT_LT(greatest_difference(computed, held), 1e-6);
}

TEST(ComputedMaps, KeysMayBeSharedByHeads) {
  RandomAttention data(70, 70, 4, 8, 1, 9);
  AttentionInput input = data.input();
  const Matrix keys = input.keys.leftCols(16), values = input.values.leftCols(2);
  const AttentionInput grouped{.queries = input.queries,
                               .keys = {keys.data(), keys.rows(), keys.cols()},
                               .values = {values.data(), values.rows(), values.cols()},
                               .heads = 4,
                               .key_heads = 2};
  for (const char* name : {"softmax", "adder"}) {
    const auto mechanism = make_mechanism({name, {}});
    EXPECT_LT(
        greatest_difference(computed_from(*mechanism, grouped), mechanism->implied_map(grouped)),
        1e-6)
        << name;
  }
}

// Rows that are computed alone have the terms of the whole map: a soft cap, hidden keys, and a sink
// of each head.
TEST(ComputedMaps, RowsHaveTheTermsOfTheScores) {
  constexpr std::int64_t kTokens = 60, kHeads = 2, kFirst = 20, kRows = 40;
  const RandomAttention data(kTokens, kTokens, kHeads, 8, 1, 4);
  ScoreTerms terms;
  terms.soft_cap = 1.5;
  terms.sinks = {0.5F, 2};
  for (std::int64_t i = 0; i < kTokens; ++i) {
    terms.seen.emplace_back(std::max<std::int64_t>(i - 20, 0), i + 1);
  }
  AttentionInput input = data.input();
  input.terms = &terms;
  for (const char* const name : {"softmax", "adder"}) {
    const auto mechanism = make_mechanism({name, {}});
    const ImpliedMaps held = mechanism->implied_map(input);
    const MapRows rows = mechanism->map_rows(input);
    for (std::int64_t head = 0; head < kHeads; ++head) {
      Matrix found(kRows, kTokens);
      rows(head, kFirst, {found.data(), kRows, kTokens, Eigen::OuterStride<>(kTokens)});
      const Matrix expected = held.head(head).middleRows(kFirst, kRows);
      EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-6) << name << ", head " << head;
      // A sink has at least exp(0.5) of at most exp(0.5) + 21 · exp(1.5).
      EXPECT_LT(found.rowwise().sum().maxCoeff(), 0.984F) << name << ", head " << head;
    }
  }
}

class ComputedMapsOfAModel : public testing::Test {
 protected:
  const std::shared_ptr<const Model> model_ =
      load_model(source_folder() + "/sample_data/models/fashion-adder-identity.h5");
  const Input input_ = open_input(source_folder() + "/sample_data/inputs/08_bag.png");
  static constexpr std::int64_t kLayer = std::int64_t{3} * 197 * 197 * 4;  ///< a layer's bytes

  [[nodiscard]] Trace run(const TraceRequest& request) const {
    return model_->run(input_, model_->spec().mechanism, request, {});
  }
};

TEST_F(ComputedMapsOfAModel, StandInForThoseTooLargeToKeep) {
  TraceRequest request;
  request.queries_keys_values = request.tokens = true;
  const Trace held = run(request);
  request.most_map_bytes = 6 * kLayer - 1;
  EXPECT_THAT(error_of([&] { (void)run(request); }), HasSubstr("too large to keep"));
  request.large_maps = TraceRequest::LargeMaps::computed;
  const Trace computed = run(request);
  for (std::size_t layer = 0; layer < 6; ++layer) {
    ASSERT_TRUE(computed.layers[layer].implied_map.are_computed());
    EXPECT_LT(
        greatest_difference(computed.layers[layer].implied_map, held.layers[layer].implied_map),
        4e-6);
    EXPECT_FALSE(computed.layers[layer].queries.empty());
  }
  EXPECT_TRUE(std::ranges::equal(computed.logits.values(), held.logits.values()));
  request.large_maps = TraceRequest::LargeMaps::computed_alone;
  const Trace alone = run(request);
  EXPECT_TRUE(alone.layers[3].implied_map.are_computed());
  EXPECT_TRUE(alone.layers[3].queries.empty() && alone.layers[3].tokens.empty());
  // Maps that fit into the limit are stored.
  request.most_map_bytes = 6 * kLayer;
  EXPECT_FALSE(run(request).layers[3].implied_map.are_computed());
}

TEST_F(ComputedMapsOfAModel, OutliveTheModel) {
  std::shared_ptr<const Model> model =
      load_model(source_folder() + "/sample_data/models/fashion-softmax.h5");
  TraceRequest request;
  const Trace held = model->run(input_, model->spec().mechanism, request, {});
  request.most_map_bytes = kLayer;
  request.large_maps = TraceRequest::LargeMaps::computed;
  const Trace computed = model->run(input_, model->spec().mechanism, request, {});
  const std::weak_ptr<const Model> gone = model;
  model.reset();
  ASSERT_TRUE(gone.expired());
  const std::int64_t of_tokens = 4 * held.tokens() * model_->spec().width;
  for (std::size_t layer = 0; layer < 6; ++layer) {
    const ImpliedMaps& maps = computed.layers[layer].implied_map;
    EXPECT_EQ(maps.bytes(), of_tokens);
    // Scores of about 10 have roundings of 1e-6, which differ between BLAS kernels.
    EXPECT_LT(greatest_difference(maps, held.layers[layer].implied_map), 4e-6);
  }
}

TEST_F(ComputedMapsOfAModel, AreRefusedForAttentionThatMixesRows) {
  TraceRequest request;
  request.most_map_bytes = kLayer;
  request.large_maps = TraceRequest::LargeMaps::computed;
  EXPECT_THAT(error_of([&] {
                (void)model_->run(input_, {"performer", {}}, request, {});
              }),
              HasSubstr("too large to keep"));
  request.change_map = [](std::int64_t, std::int64_t, MatrixMap) {};
  EXPECT_THAT(error_of([&] { (void)run(request); }), HasSubstr("too large to keep"));
}

}  // namespace
}  // namespace attnscope
