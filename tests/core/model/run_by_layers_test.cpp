#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "core/error.h"
#include "core/input/input.h"
#include "core/model/model.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

class RunByLayers : public testing::Test {
 protected:
  const std::shared_ptr<const Model> model_ =
      load_model(source_folder() + "/sample_data/models/fashion-softmax.h5");
  const Input input_ = open_input(source_folder() + "/sample_data/inputs/08_bag.png");
  static constexpr std::int64_t kLayer = std::int64_t{3} * 197 * 197 * 4;  ///< a layer's bytes
};

TEST_F(RunByLayers, HandsOverEveryLayerOnceAndReleasesIt) {
  const Trace whole = model_->run(input_, model_->spec().mechanism, {}, {});
  std::vector<std::vector<std::int64_t>> batches;
  const Trace left = run_by_layers(
      *model_, input_, model_->spec().mechanism, {}, 2 * kLayer,
      [&](const Trace& trace, const std::vector<std::int64_t>& layers, const Progress&) {
        batches.push_back(layers);
        for (std::int64_t layer = 0; layer < 6; ++layer) {
          const Tensor& maps = trace.layers[static_cast<std::size_t>(layer)].implied_map.whole();
          const bool held = std::ranges::count(layers, layer) > 0;
          ASSERT_EQ(maps.empty(), !held) << layer;
          if (!held) continue;
          const Tensor& same = whole.layers[static_cast<std::size_t>(layer)].implied_map.whole();
          EXPECT_TRUE(std::equal(maps.data(), maps.data() + maps.size(), same.data())) << layer;
        }
      });
  EXPECT_THAT(batches, testing::ElementsAre(testing::ElementsAre(0, 1), testing::ElementsAre(2, 3),
                                            testing::ElementsAre(4, 5)));
  EXPECT_TRUE(std::ranges::all_of(left.layers, [](const LayerTrace& layer) {
    return layer.implied_map.empty() && !layer.factors;
  }));
  EXPECT_TRUE(
      std::equal(left.logits.data(), left.logits.data() + left.logits.size(), whole.logits.data()));
}

TEST_F(RunByLayers, NeedsMemoryForOneLayerAtATime) {
  TraceRequest request;
  request.most_map_bytes = kLayer;
  EXPECT_THROW((void)model_->run(input_, model_->spec().mechanism, request, {}), Error);
  std::int64_t taken = 0;
  const TakeLayers count = [&](const Trace&, const std::vector<std::int64_t>& layers,
                               const Progress&) { taken += std::ssize(layers); };
  run_by_layers(*model_, input_, model_->spec().mechanism, request, 1, count);
  EXPECT_EQ(taken, 6);
  request.most_map_bytes = kLayer - 1;
  EXPECT_THROW(run_by_layers(*model_, input_, model_->spec().mechanism, request, 1, count), Error);
}

}  // namespace
}  // namespace attnscope
