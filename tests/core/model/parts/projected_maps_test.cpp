// Maps computed from a layer's tokens equal maps computed from its queries and keys.
#include "core/model/parts/projected_maps.h"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <tbb/parallel_for.h>
#include <thread>

#include "core/model/parts/attention_part.h"
#include "tests/support/naive_attention.h"

namespace attnscope {
namespace {

constexpr std::int64_t kProjectedWidth = 24, kProjectedHeads = 4, kHeadWidth = 6;

LayerNorm norm_of(std::int64_t channels, unsigned seed) {
  const Tensor numbers = random_normal({2, channels}, seed);
  const std::vector<float> all(numbers.values().begin(), numbers.values().end());
  return {{all.begin(), all.begin() + channels}, {all.begin() + channels, all.end()}};
}

Linear linear_of(std::int64_t outputs, unsigned seed,
                 Arithmetic arithmetic = Arithmetic::multiplicative) {
  const Tensor bias = random_normal({outputs}, seed + 100);
  return {random_normal({outputs, kProjectedWidth}, seed),
          {bias.values().begin(), bias.values().end()},
          arithmetic};
}

/// An attention layer, and the result of running it with stored or computed maps.
struct Layer {
  AttentionPart part;
  LayerSpec spec;
  std::string mechanism = "softmax";
  TokenLayout layout = {.prefix = 1, .rows = 3, .columns = 23};
  Tensor tokens = random_normal({70, kProjectedWidth}, 7);

  explicit Layer(std::int64_t key_heads = kProjectedHeads) {
    part.query = linear_of(kProjectedHeads * kHeadWidth, 1);
    part.key = linear_of(key_heads * kHeadWidth, 2);
    part.value = linear_of(key_heads * kHeadWidth, 3);
    spec.attention.heads = kProjectedHeads;
    spec.attention.key_heads = key_heads;
  }

  struct Ran {
    LayerTrace recorded;
    Tensor output;
  };
  /// `own`: the layer may take over the tokens.
  [[nodiscard]] Ran run(TraceRequest::LargeMaps maps, bool own = false,
                        bool vectors = false) const {
    TraceRequest request;
    request.queries_keys_values = vectors;
    request.large_maps = maps;
    LayerTrace recorded;
    const auto made = make_mechanism({mechanism, {}});
    const Tensor memory = random_normal({50, kProjectedWidth}, 8);
    const LayerRun run{.mechanism = *made,
                       .request = request,
                       .layout = layout,
                       .memory = &memory,
                       .memory_layout = &layout,
                       .parameters = {},
                       .recorded = &recorded,
                       .score_scale = 0.3};
    Tensor room = tokens;
    Tensor output = attend(part, spec, run, own ? room : tokens, own ? &room : nullptr);
    EXPECT_TRUE(!own || room.empty());
    return {std::move(recorded), std::move(output)};
  }
  [[nodiscard]] ImpliedMaps held() const {
    return run(TraceRequest::LargeMaps::refused).recorded.implied_map;
  }
  [[nodiscard]] ImpliedMaps computed(bool own = false) const {
    return run(TraceRequest::LargeMaps::computed, own).recorded.implied_map;
  }
};

// Both ways round the sums of 25 terms of a query and a key and of 6 products in orders that depend
// on the processor's kernels. Queries and keys have a standard deviation of 5, so that scores reach
// 0.3 · √6 · 25 · 3 ≈ 60. √30 roundings of 2⁻²⁴ make 2e-5 of that, and a weight p moves by at most
// p (1 − p) ≤ 1/4 of the difference of two such scores.
constexpr float kOtherOrder = 1e-5F;

void expect_same(const ImpliedMaps& computed, const ImpliedMaps& held) {
  ASSERT_TRUE(computed.are_computed());
  ASSERT_EQ(computed.shape(), held.shape());
  for (std::int64_t head = 0; head < held.extent(0); ++head) {
    EXPECT_LT((computed.head(head) - held.head(head)).cwiseAbs().maxCoeff(), kOtherOrder) << head;
    EXPECT_LT((computed.row(head, 33) - held.row(head, 33)).cwiseAbs().maxCoeff(), kOtherOrder)
        << head;
  }
}

constexpr std::int64_t kOfTokens = std::int64_t{4} * 70 * kProjectedWidth;

TEST(ProjectedMaps, StoreOnlyTheTokens) {
  Layer layer;
  for (const char* const mechanism : {"softmax", "adder"}) {
    for (const bool causal : {false, true}) {
      layer.mechanism = mechanism;
      layer.spec.scores.causal = causal;
      for (const bool own : {false, true}) {
        const ImpliedMaps computed = layer.computed(own);
        EXPECT_EQ(computed.bytes(), kOfTokens);
        expect_same(computed, layer.held());
      }
    }
  }
}

TEST(ProjectedMaps, RotateAndNormaliseEachHead) {
  for (const Rotary form : {Rotary::half, Rotary::pair}) {
    for (const RotaryGrid grid : {RotaryGrid::sequence, RotaryGrid::cells}) {
      Layer layer;
      layer.spec.rotary.form = form;
      layer.spec.rotary.grid = grid;
      layer.spec.rotary.width = 4;
      layer.part.query_norm = norm_of(kHeadWidth, 4);
      layer.part.key_norm = norm_of(kHeadWidth, 5);
      const ImpliedMaps computed = layer.computed();
      EXPECT_EQ(computed.bytes(), kOfTokens + 4 * 70 * 2 * 2);
      expect_same(computed, layer.held());
    }
  }
}

TEST(ProjectedMaps, ShareKeysAsTheLayerDoes) {
  const Layer grouped(2);
  EXPECT_EQ(grouped.computed().bytes(), kOfTokens);
  expect_same(grouped.computed(), grouped.held());
  Layer without_keys;
  without_keys.part.key.reset();
  EXPECT_EQ(without_keys.computed().bytes(), kOfTokens);
  expect_same(without_keys.computed(), without_keys.held());
}

TEST(ProjectedMaps, LeaveTheLayerUnchanged) {
  for (const std::int64_t key_heads : {4, 2, 1}) {
    Layer layer(key_heads);
    layer.spec.scores.causal = true;
    layer.spec.rotary.form = Rotary::half;
    layer.spec.rotary.width = 2;
    layer.part.query_norm = norm_of(kHeadWidth, 4);
    layer.part.heads_norm = norm_of(kProjectedHeads * kHeadWidth, 5);
    layer.part.out = linear_of(kProjectedWidth, 6);
    const Layer::Ran held = layer.run(TraceRequest::LargeMaps::refused, false, true);
    for (const bool vectors : {false, true}) {
      const Layer::Ran computed = layer.run(TraceRequest::LargeMaps::computed, true, vectors);
      expect_same(computed.recorded.implied_map, held.recorded.implied_map);
      const Matrix difference = computed.output.matrix() - held.output.matrix();
      EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-4) << key_heads;
      EXPECT_EQ(computed.recorded.rank_bound, held.recorded.rank_bound);
      EXPECT_EQ(computed.recorded.layout.columns, held.recorded.layout.columns);
      EXPECT_EQ(computed.recorded.queries.size(), vectors ? held.recorded.queries.size() : 0);
    }
  }
}

/// Computed maps are combined from runs of some heads. Mechanisms that can compute single rows must
/// therefore record no quantities and no factors.
TEST(ProjectedMaps, BelongToMechanismsWithoutQuantities) {
  const RandomAttention data(20, 20, 2, 8, 8, 1);
  int found = 0;
  for (const MechanismEntry& entry : mechanisms()) {
    if (!entry.rows) continue;
    ++found;
    const auto mechanism = make_mechanism({std::string(entry.name), {}});
    EXPECT_TRUE(mechanism->quantities(data.input()).empty()) << entry.name;
    EXPECT_FALSE(mechanism->factors(data.input())) << entry.name;
  }
  EXPECT_GT(found, 1);
}

TEST(ProjectedMaps, ReadWeightsWhereTheyLie) {
  Layer layer;
  const auto numbers =
      std::make_shared<const Tensor>(random_normal({kProjectedWidth, kProjectedWidth}, 9));
  TensorView view;
  view.dtype = DType::f32;
  view.shape = {kProjectedWidth, kProjectedWidth};
  view.strides = TensorView::contiguous_strides(view.shape);
  view.data = reinterpret_cast<const std::byte*>(numbers->data());
  view.storage = numbers;
  std::vector<std::int64_t> backwards(kProjectedWidth);
  for (std::int64_t i = 0; i < kProjectedWidth; ++i)
    backwards[static_cast<std::size_t>(i)] = kProjectedWidth - 1 - i;
  layer.part.query = Linear(WeightMatrix(view).with_rows(backwards), {});
  EXPECT_EQ(layer.computed().bytes(), kOfTokens);
  expect_same(layer.computed(), layer.held());
}

TEST(ProjectedMaps, AreUnknownForUnknownWeights) {
  HeadProjections projections{.query = linear_of(kProjectedWidth, 1),
                              .heads = kProjectedHeads,
                              .key_heads = kProjectedHeads};
  const BlockLayout unknown{
      .ggml_type = 0, .name = "unknown", .elements = 1, .bytes = 1, .readable = false};
  TensorView view;
  view.dtype = DType::quantised;
  view.shape = {kProjectedWidth, kProjectedWidth};
  view.blocks = &unknown;
  const std::vector<std::byte> bytes(kProjectedWidth * kProjectedWidth);
  view.data = bytes.data();
  projections.key = Linear(WeightMatrix(view), {});
  const Layer layer;
  const auto softmax = make_mechanism({"softmax", {}});
  const TraceRequest request;
  const LayerRun run{
      .mechanism = *softmax, .request = request, .layout = layer.layout, .parameters = {}};
  const ImpliedMaps maps = projected_maps(projections, run, false, layer.tokens);
  for (int again = 0; again < 2; ++again) EXPECT_TRUE(maps.head(1).array().isNaN().all());
}

TEST(ProjectedMaps, FollowFromQueriesAndKeysWhenHeadsAreNotSeparate) {
  std::vector<Layer> layers(5);
  layers[0].part.query_norm = norm_of(kProjectedHeads * kHeadWidth, 4);
  layers[1].part.key_norm = norm_of(kProjectedHeads * kHeadWidth, 4);
  layers[2].part.query = linear_of(kProjectedHeads * kHeadWidth, 1, Arithmetic::adder);
  layers[3].part.key = linear_of(kProjectedHeads * kHeadWidth, 1, Arithmetic::adder);
  layers[4].spec.attention.of = Attending::encoder;
  for (const Layer& layer : layers) {
    const ImpliedMaps computed = layer.computed();
    EXPECT_EQ(computed.bytes(), 4 * (computed.extent(1) + computed.extent(2)) * kProjectedWidth);
    expect_same(computed, layer.held());
  }
  // With few keys, storing the tokens' rotations as well would not save memory.
  Layer grouped(1);
  grouped.spec.rotary.form = Rotary::half;
  EXPECT_EQ(grouped.computed().bytes(), 4 * 70 * (kProjectedHeads + 1) * kHeadWidth);
  expect_same(grouped.computed(), grouped.held());
}

TEST(ProjectedMaps, OutliveTheirLayer) {
  ImpliedMaps computed, held;
  {
    const Layer layer;
    computed = layer.computed();
    held = layer.held();
  }
  expect_same(computed, held);
}

TEST(ProjectedMaps, MayBeReadByManyAtOnce) {
  // There are more heads than are cached, and none is cached before the threads start.
  std::vector<ImpliedMaps> computed, held;
  const Layer layer;
  for (int i = 0; i < 40; ++i) {
    computed.push_back(layer.computed());
    held.push_back(layer.held());
  }
  std::atomic<int> wrong = 0;
  const auto look = [&](std::int64_t at) {
    const auto index = static_cast<std::size_t>(at / kProjectedHeads);
    const Matrix difference =
        computed[index].head(at % kProjectedHeads) - held[index].head(at % kProjectedHeads);
    wrong += difference.cwiseAbs().maxCoeff() < 2e-6F ? 0 : 1;
  };
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      // Two threads read in one order and two in the reverse order, each with all cores.
      tbb::parallel_for(std::int64_t{0}, 40 * kProjectedHeads, [&](std::int64_t i) {
        look(thread < 2 ? i : 40 * kProjectedHeads - 1 - i);
      });
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace attnscope
