// Pyramids compared with PyTorch's in double precision on the same weights
// (tests/data/models/make_pyramids.py), and files that must be refused.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/model_spec_json.h"
#include "core/error.h"
#include "core/model/parts/windowed_attention.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/paths.h"
#include "tests/support/pyramid_shapes.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

const std::filesystem::path kPyramidData = source_folder() + "/tests/data/models";
constexpr float kPyramidTolerance = 1e-5F;

Transformer pyramid_of(const NamedShapes& shapes, const ModelOptions& options = {}) {
  const Checkpoint checkpoint = hashed_checkpoint(shapes);
  Architecture architecture = recognise_architecture(checkpoint, options);
  TransformerWeights weights = read_transformer_weights(checkpoint, architecture);
  return {"file", "model", std::move(architecture), std::move(weights)};
}

Input image_of(std::int64_t side) {
  Input input;
  input.content = hashed_input("input", {3, side, side});
  return input;
}

ModelOptions with_image(std::int64_t side, std::map<std::string, std::string> more = {}) {
  more["image_height"] = more["image_width"] = std::to_string(side);
  return {std::move(more), {}};
}

void expect_agreement(const char* reference, const Transformer& model, std::int64_t side) {
  const Trace trace = model.run(image_of(side), model.spec().mechanism, {}, {});
  const Checkpoint expected = open_checkpoint(kPyramidData / reference);
  const Tensor logits = expected.at("output").view().to_float();
  ASSERT_EQ(trace.logits.size(), logits.size());
  for (std::int64_t i = 0; i < logits.size(); ++i) {
    ASSERT_NEAR(trace.logits.data()[i], logits.data()[i], kPyramidTolerance) << i;
  }
  for (std::size_t layer = 0; layer < trace.layers.size(); ++layer) {
    const ImpliedMaps& map = trace.layers[layer].implied_map;
    const std::string number = std::to_string(layer);
    const Tensor rows = expected.at("map_" + number).view().to_float();
    const std::vector<std::int64_t> which = expected.at("rows_" + number).view().to_int64();
    ASSERT_EQ(map.extent(0), rows.extent(0));
    ASSERT_EQ(map.extent(2), rows.extent(2));
    const float* value = rows.data();
    for (std::int64_t head = 0; head < map.extent(0); ++head) {
      for (const std::int64_t row : which) {
        for (std::int64_t key = 0; key < map.extent(2); ++key) {
          ASSERT_NEAR(map.at(head, row, key), *value++, kPyramidTolerance)
              << "layer " << layer << ", head " << head << ", " << row << ", " << key;
        }
      }
    }
    const LayerTrace& recorded = trace.layers[layer];
    EXPECT_EQ(recorded.layout.rows * recorded.layout.columns, map.extent(1));
    EXPECT_EQ(recorded.key_layout.rows * recorded.key_layout.columns, map.extent(2));
  }
}

std::vector<PyramidStage> small_stages() {
  return {{.width = 32,
           .layers = 1,
           .heads = 1,
           .mlp_width = 256,
           .kernel = 7,
           .stride = 4,
           .reduction = 8},
          {.width = 64, .layers = 2, .heads = 2, .mlp_width = 256, .reduction = 4}};
}

std::vector<PyramidStage> small_twins() {
  std::vector<PyramidStage> stages;
  for (const std::int64_t i : {1, 2, 3, 4}) {
    stages.push_back({.width = 32 * i,
                      .layers = 2,
                      .heads = i,
                      .mlp_width = 128 * i,
                      .kernel = i == 1 ? 4 : 2,
                      .stride = i == 1 ? 4 : 2,
                      .reduction = 16 >> i,
                      .window = 7});
  }
  return stages;
}

TEST(PyramidVit, PvtV2B0AgreesWithPyTorch) {
  const Transformer model = pyramid_of(pvt_v2_shapes(pvt_v2_b0_stages(), 1000));
  EXPECT_EQ(model.architecture(), "PVTv2");
  EXPECT_EQ(model.spec().stages, pvt_v2_b0_stages());
  expect_agreement("pvt_v2_b0.npz", model, 224);
}

TEST(PyramidVit, EcoFormerB0AgreesWithPyTorch) {
  const Transformer model = pyramid_of(pvt_v2_shapes(pvt_v2_b0_stages(), 100, PyramidKind::hashed));
  const ModelSpec& spec = model.spec();
  EXPECT_EQ(spec.mechanism.name, "hash");
  EXPECT_EQ(std::get<std::string>(spec.mechanism.parameters.at("mode")), "upstream");
  EXPECT_EQ(mechanism_of(spec, 5).name, "hash");
  EXPECT_EQ(mechanism_of(spec, 6).name, "softmax");
  expect_agreement("ecoformer_b0.npz", model, 224);
}

TEST(PyramidVit, PvtV2LiAgreesWithPyTorch) {
  const Transformer model =
      pyramid_of(pvt_v2_shapes(small_stages(), 10, PyramidKind::linear), with_image(72));
  EXPECT_EQ(model.spec().stages[0].pooled, 7);
  expect_agreement("pvt_v2_li.npz", model, 72);
}

TEST(PyramidVit, TwinsAgreesWithPyTorch) {
  const Transformer model = pyramid_of(twins_shapes(small_twins(), 10));
  EXPECT_EQ(model.architecture(), "Twins");
  EXPECT_EQ(model.spec().stages, small_twins());
  expect_agreement("twins.npz", model, 224);
}

TEST(PyramidVit, ReadsTimmsNames) {
  const Transformer model = pyramid_of(timm_pvt_v2_shapes(small_stages(), 10), with_image(64));
  EXPECT_EQ(model.architecture(), "timm PVTv2");
  EXPECT_EQ(model.spec().stages, small_stages());
  const Trace trace = model.run(image_of(64), {}, {}, {});
  EXPECT_EQ(trace.queries(0), 256);
  EXPECT_EQ(trace.keys(0), 4);
  EXPECT_EQ(trace.heads(2), 2);
  EXPECT_FALSE(trace.uniform());
}

/// Expects every map to be finite, to fit the recorded keys and values, and to have rows that sum
/// to one if its mechanism promises it.
void expect_maps_of_values(const Transformer& model, const MechanismChoice& choice,
                           std::int64_t side) {
  TraceRequest request;
  request.queries_keys_values = true;
  const Trace trace = model.run(image_of(side), choice, request, {});
  for (std::size_t i = 0; i < trace.layers.size(); ++i) {
    const LayerTrace& layer = trace.layers[i];
    ASSERT_EQ(layer.values.extent(1), layer.implied_map.extent(2));
    ASSERT_EQ(layer.keys.extent(1), layer.implied_map.extent(2));
    for (const float value : layer.implied_map.entries()) ASSERT_TRUE(std::isfinite(value));
    const bool sums = make_mechanism(mechanism_of(trace, layer))
                          ->structure({.queries = 4, .keys = 4})
                          .rows_sum_to_one;
    if (!sums) continue;
    for (std::int64_t head = 0; head < layer.implied_map.extent(0); ++head) {
      const Vector rows = layer.implied_map.head(head).rowwise().sum();
      EXPECT_LT((rows.array() - 1).abs().maxCoeff(), 1e-5F) << choice.name << ", layer " << i;
    }
  }
}

TEST(PyramidVit, CanBeOverlaidWithOtherMechanisms) {
  const ModelOptions options = with_image(64);
  const Transformer reduced = pyramid_of(pvt_v2_shapes(small_stages(), 10), options);
  const Transformer hashed =
      pyramid_of(pvt_v2_shapes(small_stages(), 10, PyramidKind::hashed), options);
  std::vector<PyramidStage> stage = {small_twins().front()};
  stage[0].reduction = 2;
  const Transformer twins = pyramid_of(twins_shapes(stage, 10), with_image(56));
  for (const char* name : {"softmax", "adder", "linear"}) {
    expect_maps_of_values(reduced, {name, {}}, 64);
    expect_maps_of_values(hashed, {name, {}}, 64);
    expect_maps_of_values(twins, {name, {}}, 56);
  }
  const MechanismChoice few{"hash", {{"supports", std::int64_t{4}}, {"bits", std::int64_t{8}}}};
  expect_maps_of_values(reduced, few, 64);
  expect_maps_of_values(twins, few, 56);
  // The identity mapping needs as many keys as queries.
  EXPECT_NO_THROW((void)hashed.run(image_of(64), {"adder", {{"identity", true}}}, {}, {}));
  EXPECT_THROW((void)reduced.run(image_of(64), {"adder", {{"identity", true}}}, {}, {}), Error);
}

TEST(PyramidVit, KeepsTheLastStageInADifferentModeOfItsMechanism) {
  const Transformer model =
      pyramid_of(pvt_v2_shapes(small_stages(), 10, PyramidKind::hashed), with_image(64));
  ParameterValues paper = model.spec().mechanism.parameters;
  paper["mode"] = std::string("paper");
  const Trace trace = model.run(image_of(64), {"hash", paper}, {}, {});
  EXPECT_FALSE(trace.mechanism_trained);
  EXPECT_FALSE(trace.layers[0].mechanism);
  ASSERT_TRUE(trace.layers[1].mechanism);
  EXPECT_EQ(trace.layers[1].mechanism->name, "softmax");
  const Trace softmax = model.run(image_of(64), {"softmax", {}}, {}, {});
  EXPECT_FALSE(softmax.layers[0].mechanism);
  EXPECT_FALSE(softmax.layers[1].mechanism);
}

TEST(PyramidVit, MapsAreZeroOutsideTheirWindows) {
  const Transformer model = pyramid_of(twins_shapes({small_twins().front()}, 10), with_image(56));
  const Trace trace = model.run(image_of(56), {}, {}, {});
  const auto window_of = [](std::int64_t token) { return token / 14 / 7 * 2 + token % 14 / 7; };
  const Matrix map = trace.layers[0].implied_map.head(0);
  for (std::int64_t i = 0; i < map.rows(); ++i) {
    for (std::int64_t j = 0; j < map.cols(); ++j) {
      EXPECT_EQ(map(i, j) > 0, window_of(i) == window_of(j)) << i << ", " << j;
    }
  }
}

TEST(PyramidVit, GivesTheSameNumbersForAnyRecording) {
  const Transformer model = pyramid_of(pvt_v2_shapes(small_stages(), 10), with_image(64));
  TraceRequest nothing, one;
  nothing.implied_maps = false;
  one.layers = {1};
  one.tokens = true;
  const Trace all = model.run(image_of(64), {}, {}, {});
  const Trace none = model.run(image_of(64), {}, nothing, {});
  const Trace single = model.run(image_of(64), {}, one, {});
  for (std::int64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(all.logits.data()[i], none.logits.data()[i]);
    EXPECT_EQ(all.logits.data()[i], single.logits.data()[i]);
  }
  EXPECT_TRUE(single.layers[0].implied_map.empty());
  EXPECT_EQ(single.layers[1].tokens.shape(), (Shape{64, 64}));
  EXPECT_TRUE(none.layers[0].implied_map.empty());
}

TEST(PyramidVit, MapsBeyondTheLimitAreRefusedInWords) {
  const Transformer model = pyramid_of(pvt_v2_shapes(small_stages(), 10), with_image(64));
  TraceRequest request;
  request.most_map_bytes = 4 * 256 * 4 + 100;
  EXPECT_THAT(error_of([&] { (void)model.run(image_of(64), {}, request, {}); }),
              testing::AllOf(HasSubstr("too large"), HasSubstr("single layers, such as 0")));
  request.layers = {1};
  EXPECT_NO_THROW((void)model.run(image_of(64), {}, request, {}));
  request.layers = {3};
  EXPECT_THAT(error_of([&] { (void)model.run(image_of(64), {}, request, {}); }),
              HasSubstr("0 to 2"));
}

/// `shapes` with one tensor's shape replaced.
NamedShapes shapes_with(NamedShapes shapes, const std::string& name, const Shape& shape) {
  for (auto& [known, old] : shapes) {
    if (known == name) old = shape;
  }
  return shapes;
}

NamedShapes shapes_without(NamedShapes shapes, const std::string& name) {
  std::erase_if(shapes, [&](const auto& entry) { return entry.first == name; });
  return shapes;
}

TEST(PyramidVit, AsksForHeadsWhenTheDefaultWidthDoesNotDivide) {
  std::vector<PyramidStage> stages = small_stages();
  stages[1].width = 48;
  const NamedShapes shapes = pvt_v2_shapes(stages, 10);
  EXPECT_THAT(error_of([&] { return pyramid_of(shapes, with_image(64)); }),
              testing::AllOf(HasSubstr("how many heads"), HasSubstr("a divisor of 48"),
                             HasSubstr("--option head_width=N")));
  const Transformer model = pyramid_of(shapes, with_image(64, {{"head_width", "16"}}));
  EXPECT_EQ(model.spec().stages[0].heads, 2);
  EXPECT_EQ(model.spec().stages[1].heads, 3);
  EXPECT_THAT(pyramid_of(pvt_v2_shapes(small_stages(), 10), with_image(64)).assumptions(),
              testing::Contains(testing::Field(
                  &Assumption::reason, HasSubstr("heads as in PVTv2 (one head at first)"))));
}

TEST(PyramidVit, AStageWithoutHeadsIsRefused) {
  const NamedShapes shapes = pvt_v2_shapes(small_stages(), 10);
  ModelSpec spec = pyramid_of(shapes, with_image(64)).spec();
  spec.stages.back().heads = 0;
  const ModelOptions options = with_image(64, {{"stages", option_text(spec, "stages")}});
  EXPECT_THAT(error_of([&] { return pyramid_of(shapes, options); }), HasSubstr("stages"));
}

TEST(PyramidVit, BadShapesAreNamed) {
  const NamedShapes pvt = pvt_v2_shapes(small_stages(), 10);
  const NamedShapes eco = pvt_v2_shapes(small_stages(), 10, PyramidKind::hashed);
  const auto opening = [](const NamedShapes& shapes, const ModelOptions& options) {
    return error_of([&] { (void)pyramid_of(shapes, options).run(image_of(64), {}, {}, {}); });
  };
  const ModelOptions options = with_image(64);
  EXPECT_EQ(opening(pvt, options), "");
  EXPECT_THAT(opening(shapes_with(pvt, "block2.1.attn.kv.weight", {128, 63}), options),
              testing::AllOf(HasSubstr("block2.1.attn.kv.weight"), HasSubstr("[128, 64]")));
  EXPECT_THAT(opening(shapes_with(pvt, "block2.1.attn.sr.weight", {64, 64, 2, 2}), options),
              testing::AllOf(HasSubstr("block2.1.attn.sr"), HasSubstr("differently")));
  EXPECT_THAT(
      opening(shapes_with(pvt, "block1.0.mlp.dwconv.dwconv.weight", {256, 1, 5, 5}), options),
      HasSubstr("block1.0.mlp.dwconv.dwconv.weight"));
  EXPECT_THAT(opening(shapes_with(pvt, "patch_embed2.proj.weight", {64, 31, 3, 3}), options),
              HasSubstr("patch_embed2.proj.weight"));
  EXPECT_THAT(opening(shapes_without(pvt, "block2.0.attn.kv.weight"), options),
              HasSubstr("no queries, keys and values"));
  EXPECT_THAT(opening(shapes_without(pvt, "block2.0.norm2.weight"), options),
              HasSubstr("block2.0.norm2.weight"));
  EXPECT_THAT(opening(pvt, with_image(64, {{"head_width", "7"}})), HasSubstr("head_width"));
  EXPECT_THAT(opening(pvt, with_image(64, {{"layers", "5"}})), HasSubstr("layers"));
  EXPECT_THAT(opening(pvt, with_image(16)), HasSubstr("spatial reduction"));
  EXPECT_THAT(error_of([&] {
                const Transformer model = pyramid_of(
                    shapes_with(eco, "block1.0.attn.fast_attention.ksh.mvec", {1, 1, 1, 24}),
                    with_image(64));
                (void)model.run(image_of(64), model.spec().mechanism, {}, {});
              }),
              HasSubstr("ksh.mvec"));
  const NamedShapes twins = twins_shapes(small_twins(), 10);
  EXPECT_THAT(opening(twins, with_image(64)),
              testing::AllOf(HasSubstr("windows"), HasSubstr("multiple of 7")));
}

}  // namespace
}  // namespace attnscope
