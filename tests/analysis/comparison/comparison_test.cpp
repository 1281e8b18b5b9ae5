#include "analysis/comparison/comparison.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <stop_token>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/comparison/data_set_comparison.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/attention_subjects.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

using Quantity = ComparisonQuantity;

Trace trace_by(const MechanismChoice& mechanism, const SubjectShape& shape, unsigned seed) {
  return *attention_subject("net", mechanism, shape, seed).trace;
}

/// A copy with the heads of every layer permuted: head h is `order[h]` of the original.
Trace with_heads(const Trace& trace, const std::vector<std::int64_t>& order) {
  Trace result = trace;
  for (LayerTrace& layer : result.layers) {
    const Tensor before = layer.implied_map.whole();
    for (std::size_t head = 0; head < order.size(); ++head) {
      layer.implied_map.slice(static_cast<std::int64_t>(head)) = before.slice(order[head]);
    }
  }
  return result;
}

TEST(Alignment, LayersFindEachOtherByIndexOrDepth) {
  const auto all = [](std::int64_t layers, std::int64_t reference, LayerAlignment how) {
    std::vector<std::int64_t> found;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      found.push_back(reference_layer_of(layer, layers, reference, how));
    }
    return found;
  };
  using Layers = std::vector<std::int64_t>;
  EXPECT_EQ(all(4, 2, LayerAlignment::by_index), (Layers{0, 1, -1, -1}));
  EXPECT_EQ(all(2, 4, LayerAlignment::by_index), (Layers{0, 1}));
  EXPECT_EQ(all(6, 3, LayerAlignment::by_depth), (Layers{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(all(3, 6, LayerAlignment::by_depth), (Layers{1, 3, 5}));
  for (std::int64_t layers = 1; layers < 20; ++layers) {
    const Layers same = all(layers, layers, LayerAlignment::by_depth);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      EXPECT_EQ(same[static_cast<std::size_t>(layer)], layer);
    }
    for (std::int64_t reference = 1; reference < 20; ++reference) {
      const Layers found = all(layers, reference, LayerAlignment::by_depth);
      EXPECT_EQ(found.back(), reference - 1) << "the last with the last";
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    }
  }
}

TEST(Comparison, FindsNoDifferenceOfASubjectFromItself) {
  const Trace trace = trace_by({"softmax", {}}, {}, 1);
  const SubjectComparison comparison = compare_traces(trace, trace, {});
  EXPECT_EQ(comparison.maps.size(), 6U);
  EXPECT_EQ(comparison.maps_compared, 6);
  EXPECT_TRUE(comparison.summary.empty());
  for (const ComparedMap& map : comparison.maps) {
    EXPECT_EQ(map.state, MapPairState::compared);
    EXPECT_EQ(map.reference_layer, map.layer);
    EXPECT_EQ(map.values[Quantity::divergence], 0);
    EXPECT_EQ(map.values[Quantity::spectrum_distance], 0);
    EXPECT_EQ(map.values[Quantity::rank_difference], 0);
    EXPECT_EQ(map.row_divergence.size(), 50U);
  }
}

TEST(Comparison, MatchingFindsHeadsInAnyOrder) {
  const SubjectShape shape{.layers = 2, .heads = 4};
  const Trace trace = trace_by({"softmax", {}}, shape, 1);
  const std::vector<std::int64_t> order = {2, 0, 3, 1};
  ComparisonOptions options;
  options.match_heads = true;
  const SubjectComparison comparison = compare_traces(trace, with_heads(trace, order), options);
  for (const LayerPair& pair : comparison.alignment) EXPECT_EQ(pair.reference_heads, order);
  EXPECT_EQ(comparison.mean[Quantity::divergence], 0);
  options.match_heads = false;
  EXPECT_GT(compare_traces(trace, with_heads(trace, order), options).mean[Quantity::divergence], 0);
}

TEST(Comparison, ComparesMapsWithTheShownIdentity) {
  const SubjectShape shape;
  MechanismChoice plain{"adder", {}}, with{"adder", {{"identity", true}}};
  const Trace a = trace_by(plain, shape, 1), b = trace_by(with, shape, 1);
  ComparisonOptions options;
  EXPECT_GT(compare_traces(a, b, options).mean[Quantity::divergence], 0.01);
  EXPECT_GT(compare_traces(a, b, options).mean[Quantity::rank_difference], 0);
  options.analysed.identity = IdentityView::without;
  EXPECT_NEAR(compare_traces(a, b, options).mean[Quantity::divergence], 0, 1e-6);
  options.analysed.identity = IdentityView::with;
  EXPECT_NEAR(compare_traces(a, b, options).mean[Quantity::frobenius_distance], 0, 1e-5);
}

TEST(Comparison, MapsOfOtherSizesAndDepthsAreComparedWhereThatIsDefined) {
  const Trace reference = trace_by({"softmax", {}}, {}, 1);
  const Trace other =
      trace_by({"softmax", {}}, {.layers = 4, .heads = 3, .grid_rows = 5, .grid_columns = 5}, 2);
  const SubjectComparison comparison = compare_traces(reference, other, {});
  EXPECT_EQ(comparison.maps_compared, 0);
  for (const ComparedMap& map : comparison.maps) {
    const bool beside = map.layer < 3 && map.head < 2;
    EXPECT_EQ(map.state, beside ? MapPairState::different_size : MapPairState::no_counterpart);
    EXPECT_TRUE(std::isnan(map.values[Quantity::divergence]));
    EXPECT_EQ(std::isnan(map.values[Quantity::spectrum_distance]), !beside);
    EXPECT_EQ(std::isnan(map.values[Quantity::rank_share_difference]), !beside);
    EXPECT_TRUE(std::isnan(map.values[Quantity::singular_value_distance]));
  }
  EXPECT_NE(comparison.summary.find("no such map"), std::string::npos) << comparison.summary;
  EXPECT_NE(comparison.summary.find("different size"), std::string::npos) << comparison.summary;
  ComparisonOptions by_depth;
  by_depth.layers = LayerAlignment::by_depth;
  by_depth.match_heads = true;
  const SubjectComparison deep = compare_traces(reference, other, by_depth);
  EXPECT_EQ(deep.alignment.back().reference_layer, 2);
  EXPECT_EQ(std::count(deep.alignment.back().reference_heads.begin(),
                       deep.alignment.back().reference_heads.end(), -1),
            1)
      << "three heads, two in the reference";
}

TEST(Comparison, NotFiniteMapsAreAStateAndTokensGiveCka) {
  Trace reference = trace_by({"softmax", {}}, {}, 1), other = trace_by({"adder", {}}, {}, 1);
  other.layers[1].implied_map.values()[7] = std::numeric_limits<float>::quiet_NaN();
  for (Trace* trace : {&reference, &other}) {
    for (LayerTrace& layer : trace->layers) {
      layer.tokens = Tensor({50, 4});
      for (std::int64_t i = 0; i < 200; ++i) {
        layer.tokens.data()[i] = static_cast<float>((i * 37 + (trace == &other ? i * i : 0)) % 101);
      }
    }
  }
  other.layers[2].tokens = Tensor();
  const SubjectComparison comparison = compare_traces(reference, other, {});
  EXPECT_EQ(comparison.maps[2].state, MapPairState::not_finite);
  EXPECT_EQ(comparison.maps[3].state, MapPairState::compared);
  EXPECT_GT(comparison.layers[0].values[Quantity::cka], 0);
  EXPECT_LT(comparison.layers[0].values[Quantity::cka], 1);
  EXPECT_TRUE(std::isnan(comparison.layers[2].values[Quantity::cka]));
  EXPECT_EQ(comparison.layers[2].why_no_cka, "the tokens were not recorded");
  EXPECT_NEAR(
      comparison.mean[Quantity::cka],
      (comparison.layers[0].values[Quantity::cka] + comparison.layers[1].values[Quantity::cka]) / 2,
      1e-12);
}

TEST(Comparison, WrongOptionsAreRefusedAndWorkIsCancelled) {
  const Trace trace = trace_by({"softmax", {}}, {}, 1);
  ComparisonOptions options;
  options.threshold = 1.5;
  EXPECT_THROW((void)compare_traces(trace, trace, options), Error);
  EXPECT_THROW((void)compare_traces(trace, Trace(), {}), Error);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)compare_traces(trace, trace, {}, {}, Progress({}, stop.get_token())),
               Cancelled);
}

TEST(Predictions, AreCountedAsTheyAgree) {
  PredictionAgreement agreement;
  const std::vector<float> cat = {3, 1, 0}, dog = {0, 2, 1};
  agreement.add(cat, cat, 0);
  agreement.add(cat, dog, 0);
  agreement.add(cat, dog, 1);
  agreement.add(dog, dog, 2);
  agreement.add(dog, cat, -1);
  agreement.add(std::vector<float>{std::nanf(""), 0, 0}, cat, 0);
  EXPECT_EQ(agreement.items, 5);
  EXPECT_EQ(agreement.agreeing, 2);
  EXPECT_EQ(agreement.labelled, 4);
  EXPECT_EQ(agreement.both_right, 1);
  EXPECT_EQ(agreement.only_other_right, 1);
  EXPECT_EQ(agreement.only_reference_right, 1);
  EXPECT_EQ(agreement.both_wrong, 1);
  EXPECT_EQ(agreement.not_finite, 1);
  EXPECT_DOUBLE_EQ(agreement.share(), 0.4);
  EXPECT_GT(agreement.mean_divergence(), 0);
  EXPECT_THROW(agreement.add(cat, std::vector<float>(5), 0), Error);
}

// --- over a data set
// ------------------------------------------------------------------------------

class ComparedItems final : public DataSet {
 public:
  explicit ComparedItems(std::int64_t count) : count_(count) {}
  [[nodiscard]] std::int64_t size() const override { return count_; }
  [[nodiscard]] Input item(std::int64_t index) const override {
    Input input;
    input.content = hashed_input("image " + std::to_string(index), {3, 32, 32});
    input.label = "items[" + std::to_string(index) + "]";
    input.class_index = static_cast<int>(index % 3);
    return input;
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }

 private:
  std::int64_t count_;
  std::vector<std::string> names_;
};

std::shared_ptr<const Model> compared_model() {
  const Checkpoint checkpoint = hashed_checkpoint(timm_shapes({}));
  Architecture architecture = recognise_architecture(checkpoint);
  TransformerWeights weights = read_transformer_weights(checkpoint, architecture);
  return std::make_shared<Transformer>("weights", "model", std::move(architecture),
                                       std::move(weights));
}

TEST(DataSetComparison, IsTheMeanOfItsItemsForEveryBatchSize) {
  const auto model = compared_model();
  const std::vector<ComparedModel> models = {{"softmax", model, model->spec().mechanism},
                                             {"adder", model, {"adder", {}}},
                                             {"itself", model, model->spec().mechanism}};
  const ComparedItems items(19);
  const auto results = compare_over_data_set(models, items, {}, {});
  ASSERT_EQ(results.size(), 2U);
  ComparisonMean mean;
  PredictionAgreement agreement;
  for (std::int64_t i = 0; i < 19; ++i) {
    TraceRequest request;
    request.tokens = true;
    const Trace a = model->run(items.item(i), models[0].mechanism, request, {});
    const Trace b = model->run(items.item(i), models[1].mechanism, request, {});
    mean.add(compare_traces(a, b, {}).maps.at(1).values);
    agreement.add(b.logits.values(), a.logits.values(), static_cast<int>(i % 3));
  }
  EXPECT_EQ(results[0].items, 19);
  const ComparisonValues expected = mean.mean(), deviation = mean.standard_deviation();
  for (const Quantity quantity : {Quantity::divergence, Quantity::rank_difference, Quantity::cka,
                                  Quantity::spectrum_distance}) {
    EXPECT_DOUBLE_EQ(results[0].mean.maps.at(1).values[quantity], expected[quantity]);
    EXPECT_DOUBLE_EQ(results[0].deviation.at(1)[quantity], deviation[quantity]);
  }
  EXPECT_EQ(results[0].predictions.agreeing, agreement.agreeing);
  EXPECT_EQ(results[0].predictions.labelled, 19);
  EXPECT_DOUBLE_EQ(results[0].predictions.sum_divergence_bits, agreement.sum_divergence_bits);
  EXPECT_EQ(results[1].predictions.agreeing, 19);
  EXPECT_EQ(results[1].mean.mean[Quantity::divergence], 0);
  EXPECT_NEAR(results[1].mean.mean[Quantity::cka], 1, 1e-9);
}

TEST(DataSetComparison, RefusesOneModelAndAnEmptyDataSet) {
  const auto model = compared_model();
  const std::vector<ComparedModel> models(2, {"softmax", model, model->spec().mechanism});
  EXPECT_THROW((void)compare_over_data_set(std::span(models).first(1), ComparedItems(2), {}, {}),
               Error);
  EXPECT_THROW((void)compare_over_data_set(models, ComparedItems(0), {}, {}), Error);
}

TEST(ComparisonAtEqualEntropy, TempersTheMapToItsCounterpartsEntropy) {
  const Trace softmax = trace_by({"softmax", {}}, {}, 1);
  const Trace adder = trace_by({"adder", {{"identity", true}}}, {}, 1);
  const SubjectComparison comparison =
      compare_traces(softmax, adder, {.at_entropy = reference_entropy});
  for (const ComparedMap& map : comparison.maps) {
    const double target = entropy_share_at(softmax, {map.layer, map.head});
    const EntropyRank expected =
        rank_at_entropy(adder, {map.layer, map.head}, target, {.identity = IdentityView::as_is});
    EXPECT_EQ(map.values[Quantity::rank_at_entropy], expected.rank);
    EXPECT_EQ(map.values[Quantity::reference_rank_at_entropy],
              map.values[Quantity::reference_rank]);
    EXPECT_EQ(map.values[Quantity::equal_entropy], target);
    EXPECT_EQ(map.values[Quantity::equal_entropy_temperature], expected.tempered.temperature);
  }
  const SubjectComparison at = compare_traces(softmax, adder, {.at_entropy = 0.6});
  EXPECT_EQ(at.maps.back().values[Quantity::reference_rank_at_entropy],
            rank_at_entropy(softmax, {2, 1}, 0.6).rank);
  EXPECT_GT(at.mean[Quantity::rank_at_entropy], 1);
  EXPECT_TRUE(std::isnan(compare_traces(softmax, adder, {}).mean[Quantity::rank_at_entropy]));
}

TEST(ComparisonAtEqualEntropy, NeedsTemperatures) {
  const Trace softmax = trace_by({"softmax", {}}, {}, 1), linear = trace_by({"linear", {}}, {}, 1);
  EXPECT_THROW((void)compare_traces(softmax, linear, {.at_entropy = reference_entropy}), Error);
  EXPECT_THROW((void)compare_traces(linear, softmax, {.at_entropy = 0.5}), Error);
  // The reference's entropy is that of its map as it is, which needs no temperature.
  const double rank = compare_traces(linear, softmax, {.at_entropy = reference_entropy})
                          .mean[Quantity::rank_at_entropy];
  EXPECT_GT(rank, 1);
  EXPECT_THROW((void)compare_traces(softmax, softmax,
                                    {.at_entropy = 0.5, .analysed = {.of = MatrixKind::scores}}),
               Error);
  EXPECT_THROW((void)compare_traces(softmax, softmax, {.at_entropy = 1}), Error);
}

}  // namespace
}  // namespace attnscope
