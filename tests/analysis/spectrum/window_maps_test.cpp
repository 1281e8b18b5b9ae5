// Maps of attention within windows: their storage in blocks, and spectra, ranks and rollout of the
// blocks, which are those of the whole maps.
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <memory>

#include "analysis/rollout/rollout.h"
#include "analysis/spectrum/spectrum.h"
#include "core/architecture/architecture.h"
#include "core/model/model.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

/// A Swin with 16 × 16 and 8 × 8 tokens and windows of 4 × 4. Every other layer shifts its windows.
class Swin {
 public:
  Swin() {
    write_hashed_safetensors(folder_ / "model.safetensors", family_shapes("swin"));
    ModelOptions options;
    options.overrides = {{"image_height", "32"}, {"image_width", "32"}};
    model_ = load_model(folder_.path(), options);
    input_.content = hashed_input("input", {3, 32, 32});
  }
  [[nodiscard]] Trace run(const TraceRequest& request = {}) const {
    return model_->run(input_, model_->spec().mechanism, request, {});
  }

 private:
  TemporaryFolder folder_;
  std::shared_ptr<const Model> model_;
  Input input_;
};

/// A copy of the trace with maps over the whole grid.
Trace with_whole_maps(const Trace& trace) {
  Trace whole = trace;
  for (LayerTrace& layer : whole.layers) layer.implied_map = layer.implied_map.all();
  return whole;
}

TEST(WindowMaps, HoldNoMoreThanTheirWindows) {
  const Trace trace = Swin().run();
  ASSERT_EQ(trace.layers.size(), 4U);
  const std::int64_t tokens[] = {256, 256, 64, 64}, heads[] = {2, 2, 4, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    const ImpliedMaps& maps = trace.layers[i].implied_map;
    EXPECT_EQ(maps.shape(), (Shape{heads[i], tokens[i], tokens[i]}));
    ASSERT_NE(maps.blocks(), nullptr);
    if (i % 2 == 0) {
      EXPECT_EQ(maps.bytes(), heads[i] * tokens[i] * 16 * 4);
      EXPECT_EQ(maps.blocks()->count(), tokens[i] / 16);
    } else {  // windows shifted beyond the edges are smaller
      EXPECT_LT(maps.bytes(), heads[i] * tokens[i] * 16 * 4);
      EXPECT_GT(maps.blocks()->count(), tokens[i] / 16);
    }
    const Matrix map = maps.head(0);
    EXPECT_LT((map.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-5F);
  }
}

TEST(WindowMaps, SpectraAreThoseOfTheWholeMaps) {
  const Trace trace = Swin().run(), whole = with_whole_maps(trace);
  SpectrumOptions options;
  options.method = SpectrumMethod::dense;
  options.accuracy = SpectrumAccuracy::every_value;
  for (const IdentityView view : {IdentityView::as_is, IdentityView::with}) {
    const std::vector<MapSpectrum> found = spectra_of(trace, view, options);
    const std::vector<MapSpectrum> expected = spectra_of(whole, view, options);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].state, SpectrumState::ready);
      EXPECT_EQ(found[i].tokens, expected[i].tokens);
      EXPECT_EQ(found[i].identity, expected[i].identity);
      EXPECT_EQ(found[i].equivalent_rank, expected[i].equivalent_rank);
      EXPECT_EQ(found[i].rank_bound, expected[i].rank_bound);
      EXPECT_NEAR(found[i].effective_rank, expected[i].effective_rank, 1e-6);
      EXPECT_NEAR(found[i].symmetry_error, expected[i].symmetry_error, 1e-9);
      ASSERT_EQ(found[i].singular_values.size(), expected[i].singular_values.size());
      for (std::size_t k = 0; k < found[i].singular_values.size(); ++k) {
        ASSERT_NEAR(found[i].singular_values[k], expected[i].singular_values[k], 1e-9);
      }
    }
  }
}

TEST(WindowMaps, CountNonFiniteValues) {
  Trace trace = Swin().run();
  trace.layers[1].implied_map.entries()[5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<MapSpectrum> spectra = spectra_of(trace, IdentityView::as_is, {});
  const auto broken = std::ranges::count_if(
      spectra, [](const auto& one) { return one.state == SpectrumState::not_finite; });
  EXPECT_EQ(broken, 1);
}

TEST(WindowMaps, RolloutIsThatOfTheWholeMaps) {
  const Trace trace = Swin().run(), whole = with_whole_maps(trace);
  for (const RolloutFusion fusion :
       {RolloutFusion::mean, RolloutFusion::maximum, RolloutFusion::minimum}) {
    const RolloutOptions options{.layers = 2, .fusion = fusion};
    const Tensor found = attention_rollout(trace, options, {});
    const Tensor expected = attention_rollout(whole, options, {});
    ASSERT_EQ(found.shape(), (Shape{256, 256}));
    for (std::int64_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found.data()[i], expected.data()[i], 1e-7);
    }
  }
}

TEST(WindowMaps, RolloutGoesThroughTheMergingOfPatches) {
  const Trace trace = Swin().run();
  ASSERT_TRUE(has_rollout(trace));
  const Matrix fine = attention_rollout(trace, 2).matrix();
  Trace coarse = trace;
  coarse.layers.erase(coarse.layers.begin(), coarse.layers.begin() + 2);
  const Matrix upper = attention_rollout(coarse).matrix();
  // Merging combines four tokens into one, each with a share of one quarter. All four have the row
  // of that one.
  Matrix merge = Matrix::Zero(64, 256);
  for (std::int64_t token = 0; token < 256; ++token) {
    merge(token / 16 / 2 * 8 + token % 16 / 2, token) = 0.25F;
  }
  const Matrix expected = 4 * merge.transpose() * upper * merge * fine;
  const Matrix found = attention_rollout(trace).matrix();
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-6F);
  EXPECT_LT((found.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-5F);
}

TEST(WindowMaps, RecordChangedMapsInBlocksWherePossible) {
  const Swin swin;
  TraceRequest request;
  request.change_map = [](std::int64_t, std::int64_t, MatrixMap map) { map *= 1; };
  const Trace same = swin.run(request), before = swin.run();
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_NE(same.layers[i].implied_map.blocks(), nullptr);
    const std::span found = same.layers[i].implied_map.entries();
    const std::span expected = before.layers[i].implied_map.entries();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) ASSERT_NEAR(found[k], expected[k], 1e-5);
  }
  for (std::int64_t i = 0; i < before.logits.size(); ++i) {
    EXPECT_NEAR(same.logits.data()[i], before.logits.data()[i], 1e-5);
  }
  request.change_map = [](std::int64_t layer, std::int64_t head, MatrixMap map) {
    if (layer == 0 && head == 1) map.setConstant(1.0F / 256);
  };
  const Trace even = swin.run(request);
  EXPECT_EQ(even.layers[0].implied_map.blocks(), nullptr);
  EXPECT_EQ(even.layers[0].implied_map.at(1, 0, 255), 1.0F / 256);
  EXPECT_EQ(even.layers[0].implied_map.head(0), before.layers[0].implied_map.head(0));
  EXPECT_NE(even.layers[1].implied_map.blocks(), nullptr);
}

}  // namespace
}  // namespace attnscope
