#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <tbb/global_control.h>

#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/model_shapes.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

Transformer model_of(const Checkpoint& checkpoint,
                     std::map<std::string, std::string> overrides = {}) {
  Architecture architecture = recognise_architecture(checkpoint, {std::move(overrides), {}});
  TransformerWeights weights = read_transformer_weights(checkpoint, architecture);
  return {"weights", "model", std::move(architecture), std::move(weights)};
}

Input input_of(Tensor values) {
  Input input;
  input.content = std::move(values);
  input.label = "input";
  return input;
}

Input image_input(std::int64_t extent = 32) {
  return input_of(hashed_input("input", {3, extent, extent}));
}

bool same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::ranges::equal(a.values(), b.values());
}

TEST(Vit, GivesTheSameBytesWhateverTheThreadCount) {
  const Transformer model = model_of(hashed_checkpoint(timm_shapes({.image = 96})));
  TraceRequest request;
  request.tokens = true;
  for (const char* mechanism : {"softmax", "adder"}) {
    const auto run = [&] { return model.run(image_input(96), {mechanism, {}}, request, {}); };
    const Trace parallel = run();
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    const Trace serial = run();
    EXPECT_TRUE(same(parallel.logits, serial.logits));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(
          same(parallel.layers[i].implied_map.whole(), serial.layers[i].implied_map.whole()));
      EXPECT_TRUE(same(parallel.layers[i].tokens, serial.layers[i].tokens));
    }
  }
}

TEST(Vit, RecordsOnlyRequestedQuantities) {
  const Transformer model = model_of(hashed_checkpoint(timm_shapes({})));
  TraceRequest request;
  request.queries_keys_values = true;
  request.layers = {1};
  const Trace trace = model.run(image_input(), {}, request, {});
  ASSERT_EQ(trace.layers.size(), 2U);
  EXPECT_TRUE(trace.layers[0].implied_map.empty());
  EXPECT_EQ(trace.layers[1].implied_map.shape(), (Shape{1, 17, 17}));
  EXPECT_EQ(trace.layers[1].queries.shape(), (Shape{1, 17, 64}));
  EXPECT_TRUE(trace.layers[1].tokens.empty());
  request.implied_maps = false;
  const Trace bare = model.run(image_input(), {}, request, {});
  EXPECT_TRUE(bare.layers[1].implied_map.empty());
  EXPECT_TRUE(same(bare.logits, trace.logits));
  request.layers = {2};
  EXPECT_THROW((void)model.run(image_input(), {}, request, {}), Error);
}

TEST(Vit, ReportsWhetherTheMechanismIsTheTrainedOne) {
  const Transformer model = model_of(hashed_checkpoint(timm_shapes({})));
  const Trace own = model.run(image_input(), model.spec().mechanism, {}, {});
  EXPECT_TRUE(own.mechanism_trained);
  EXPECT_FALSE(own.identity_in_maps);
  const Trace laid = model.run(image_input(), {"adder", {{"identity", true}}}, {}, {});
  EXPECT_FALSE(laid.mechanism_trained);
  EXPECT_TRUE(laid.identity_in_maps);
  const Tensor& map = laid.layers[0].implied_map.whole();
  EXPECT_NEAR(map.slice(0).row(3).sum(), 2.0F, 1e-5F);
  EXPECT_FALSE(same(laid.logits, own.logits));
  EXPECT_THROW((void)model.run(image_input(), {"adde", {}}, {}, {}), Error);
}

TEST(Vit, AnEncoderIsEquivariantUnderPermutationOfItsTokens) {
  const Transformer model = model_of(hashed_checkpoint(torch_encoder_shapes(64, 128, 2)));
  const Tensor tokens = hashed_input("input", {9, 64});
  Tensor reversed(tokens.shape());
  reversed.matrix() = tokens.matrix().colwise().reverse();
  TraceRequest request;
  request.tokens = true;
  const Trace one = model.run(input_of(tokens), {}, request, {});
  const Trace other = model.run(input_of(reversed), {}, request, {});
  const auto difference =
      one.layers[1].tokens.matrix() - other.layers[1].tokens.matrix().colwise().reverse();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 2e-5F);
}

TEST(Vit, ReadsTheMeanOfThePatchesOrOfAllTokens) {
  const Checkpoint checkpoint = hashed_checkpoint(timm_shapes({}));
  TraceRequest request;
  request.tokens = true;
  const auto logits = [&](const char* readout, Tensor& tokens) {
    const Trace trace = model_of(checkpoint, {{"readout", readout}, {"final_norm", "false"}})
                            .run(image_input(), {}, request, {});
    tokens = trace.layers.back().tokens;
    return trace.logits;
  };
  const Tensor weight = hashed_weight("head.weight", {10, 64});
  const Tensor bias = hashed_weight("head.bias", {10});
  for (const auto& [readout, skipped] : {std::pair("mean", 1), std::pair("mean_all", 0)}) {
    Tensor tokens;
    const Tensor found = logits(readout, tokens);
    const Eigen::RowVectorXf mean =
        std::as_const(tokens).matrix().bottomRows(tokens.extent(0) - skipped).colwise().mean();
    const Eigen::RowVectorXf expected = mean * weight.matrix().transpose();
    for (std::int64_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(found.data()[i], expected(i) + bias.data()[i], 2e-5F) << readout;
    }
  }
}

TEST(Vit, TheHeadReadsTheFeatures) {
  const Checkpoint checkpoint = hashed_checkpoint(timm_shapes({}));
  const Tensor weight = hashed_weight("head.weight", {10, 64});
  const Tensor bias = hashed_weight("head.bias", {10});
  for (const char* readout : {"class", "mean"}) {
    const Trace trace = model_of(checkpoint, {{"readout", readout}}).run(image_input(), {}, {}, {});
    ASSERT_EQ(trace.features.shape(), (Shape{64})) << readout;
    const Eigen::Map<const Eigen::RowVectorXf> features(trace.features.data(), 64);
    const Eigen::RowVectorXf expected = features * weight.matrix().transpose();
    for (std::int64_t i = 0; i < 10; ++i) {
      EXPECT_NEAR(trace.logits.data()[i], expected(i) + bias.data()[i], 2e-5F) << readout;
    }
  }
  const Transformer encoder = model_of(hashed_checkpoint(torch_encoder_shapes(64, 128, 2)));
  EXPECT_TRUE(encoder.run(input_of(hashed_input("input", {9, 64})), {}, {}, {}).features.empty());
}

TEST(Vit, ArithmeticDoesNotDependOnTheFamilysNames) {
  // torchvision computes the same as timm.
  const VitExtents extents;
  const NamedShapes timm = timm_shapes(extents), torchvision = torchvision_shapes(extents);
  std::map<std::string, std::string> timms_name;  // torchvision's → timm's
  for (const auto& [name, shape] : torchvision) {
    std::string own = name;
    const std::pair<const char*, const char*> names[] = {
        {"class_token", "cls_token"},
        {"conv_proj", "patch_embed.proj"},
        {"encoder.pos_embedding", "pos_embed"},
        {"encoder.layers.encoder_layer_", "blocks."},
        {"self_attention.in_proj_", "attn.qkv."},
        {"self_attention.out_proj", "attn.proj"},
        {"ln_1", "norm1"},
        {"ln_2", "norm2"},
        {"mlp.0", "mlp.fc1"},
        {"mlp.3", "mlp.fc2"},
        {"encoder.ln", "norm"},
        {"heads.head", "head"}};
    for (const auto& [from, to] : names) {
      if (const auto at = own.find(from); at != std::string::npos) {
        own.replace(at, std::string_view(from).size(), to);
      }
    }
    timms_name[name] = own;
  }
  std::vector<StoredTensor> renamed = hashed_checkpoint(timm).tensors();
  for (const auto& [name, own] : timms_name) {
    for (StoredTensor& tensor : renamed) {
      if (tensor.name == own) tensor.name = name;
    }
  }
  const Transformer other = model_of(Checkpoint("in memory", "test", std::move(renamed), {}));
  EXPECT_EQ(other.architecture(), "torchvision ViT");
  const Trace expected = model_of(hashed_checkpoint(timm)).run(image_input(), {}, {}, {});
  EXPECT_TRUE(same(other.run(image_input(), {}, {}, {}).logits, expected.logits));
}

TEST(Vit, StopsWhenCancelled) {
  const Transformer model = model_of(hashed_checkpoint(timm_shapes({})));
  std::stop_source source;
  int steps = 0;
  const Progress progress(
      [&](double, std::string_view) {
        if (++steps == 2) source.request_stop();
      },
      source.get_token());
  EXPECT_THROW((void)model.run(image_input(), {}, {}, progress), Cancelled);
}

TEST(Vit, LayerScaleOfZeroKeepsTheTokens) {
  NamedShapes shapes = timm_shapes({});
  Checkpoint checkpoint = [&] {
    for (const char* name :
         {"blocks.0.ls1.gamma", "blocks.0.ls2.gamma", "blocks.1.ls1.gamma", "blocks.1.ls2.gamma"}) {
      shapes.push_back({name, {64}});
    }
    Checkpoint hashed = hashed_checkpoint(shapes);
    std::vector<StoredTensor> tensors = hashed.tensors();
    for (StoredTensor& tensor : tensors) {
      if (!tensor.name.ends_with("gamma")) continue;
      tensor.view = [] {
        const auto zeros = std::make_shared<std::vector<float>>(64);
        return TensorView{
            DType::f32, {64}, {1}, reinterpret_cast<const std::byte*>(zeros->data()), zeros};
      };
    }
    return Checkpoint("in memory", "test", std::move(tensors), {});
  }();
  TraceRequest request;
  request.tokens = true;
  const Trace trace = model_of(checkpoint).run(image_input(), {}, request, {});
  EXPECT_TRUE(same(trace.layers[0].tokens, trace.layers[1].tokens));
  const Trace unscaled =
      model_of(hashed_checkpoint(timm_shapes({}))).run(image_input(), {}, request, {});
  EXPECT_FALSE(same(unscaled.layers[0].tokens, unscaled.layers[1].tokens));
}

TEST(Vit, InterpolatesItsPositionsToAnotherImageSize) {
  const Checkpoint checkpoint = hashed_checkpoint(timm_shapes({}));
  const Transformer model = model_of(checkpoint, {{"image_height", "64"}, {"image_width", "40"}});
  const Trace trace = model.run(input_of(hashed_input("input", {3, 64, 40})), {}, {}, {});
  EXPECT_EQ(trace.layout.rows, 8);
  EXPECT_EQ(trace.layout.columns, 5);
  EXPECT_EQ(trace.tokens(), 41);
}

TEST(TransformerWeights, ATensorThatDoesNotFitIsNamed) {
  NamedShapes shapes = timm_shapes({});
  for (auto& [name, shape] : shapes) {
    if (name == "blocks.1.mlp.fc2.weight") shape = {64, 255};
  }
  const Checkpoint checkpoint = hashed_checkpoint(shapes);
  EXPECT_THAT(error_of([&] { (void)model_of(checkpoint); }),
              testing::AllOf(testing::HasSubstr("blocks.1.mlp.fc2.weight"),
                             testing::HasSubstr("expected [64, 256]"),
                             testing::HasSubstr("found [64, 255]")));
}

TEST(Linear, AdderIsTheNegatedDistanceThenItsLayerNorm) {
  const Tensor weight = hashed_weight("linear.weight", {7, 33});
  const Tensor bias = hashed_weight("linear.bias", {7});
  const Tensor gamma = hashed_weight("norm.weight", {7});
  const Tensor beta = hashed_weight("norm.bias", {7});
  const auto vector = [](const Tensor& t) {
    return std::vector<float>(t.values().begin(), t.values().end());
  };
  const Linear linear(weight, vector(bias), Arithmetic::adder,
                      LayerNorm{vector(gamma), vector(beta), 1e-6});
  const Tensor x = hashed_input("x", {5, 33});
  const Tensor found = linear(std::as_const(x).matrix());
  for (std::int64_t row = 0; row < 5; ++row) {
    std::vector<double> y(7);
    for (std::int64_t out = 0; out < 7; ++out) {  // Adder, Eq. 4
      double sum = bias.data()[out];
      for (std::int64_t i = 0; i < 33; ++i) {
        sum -= std::abs(static_cast<double>(x.matrix()(row, i)) - weight.matrix()(out, i));
      }
      y[static_cast<std::size_t>(out)] = sum;
    }
    const double mean = std::accumulate(y.begin(), y.end(), 0.0) / 7;
    double variance = 0;
    for (const double value : y) variance += (value - mean) * (value - mean) / 7;
    for (std::int64_t out = 0; out < 7; ++out) {
      const double normed = (y[static_cast<std::size_t>(out)] - mean) / std::sqrt(variance + 1e-6);
      EXPECT_NEAR(found.matrix()(row, out), normed * gamma.data()[out] + beta.data()[out], 1e-5);
    }
  }
}

TEST(Vit, AdderArithmeticRunsAndDiffers) {
  const Checkpoint checkpoint = hashed_checkpoint(timm_shapes({}));
  const Trace adder =
      model_of(checkpoint, {{"arithmetic", "adder"}}).run(image_input(), {"adder", {}}, {}, {});
  const Trace usual = model_of(checkpoint).run(image_input(), {"adder", {}}, {}, {});
  EXPECT_FALSE(same(adder.logits, usual.logits));
  for (const float logit : adder.logits.values()) EXPECT_TRUE(std::isfinite(logit));
}

}  // namespace
}  // namespace attnscope
