// The sample models compared with NumPy: sample_data/recipe/reference.py.
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/model/model.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::filesystem::path kSamples = source_folder() + "/sample_data";

class SampleModel : public testing::TestWithParam<const char*> {};

TEST_P(SampleModel, AgreesWithNumPy) {
  const std::string name = GetParam();
  const auto model = load_model(kSamples / "models" / (name + ".h5"));
  EXPECT_EQ(model->name(), name);
  EXPECT_TRUE(model->assumptions().empty());
  const Checkpoint reference = open_checkpoint(kSamples / "reference" / (name + ".npz"));
  Input input;
  input.content = reference.at("input").view().to_float();
  const Trace trace = model->run(input, model->spec().mechanism, {}, {});
  EXPECT_TRUE(trace.mechanism_trained);

  const Tensor logits = reference.at("logits").view().to_float();
  ASSERT_EQ(trace.logits.size(), logits.size());
  for (std::int64_t i = 0; i < logits.size(); ++i) {
    EXPECT_NEAR(trace.logits.data()[i], logits.data()[i], 2e-5F) << i;
  }
  const std::vector<std::int64_t> layers = reference.at("layers").view().to_int64();
  const Tensor maps = reference.at("implied_maps").view().to_float();
  const float* expected = maps.data();
  if (trace.map_channels > 1) {
    // The reference has only the first channels of the first head.
    ASSERT_LE(maps.extent(1), trace.map_channels);
    for (std::int64_t channel = 0; channel < maps.extent(1); ++channel) {
      TraceRequest request;
      request.channel = channel;
      request.layers = layers;
      const Trace of_channel = model->run(input, model->spec().mechanism, request, {});
      EXPECT_EQ(of_channel.map_channel, channel);
      for (std::size_t k = 0; k < layers.size(); ++k) {
        const Tensor& found =
            of_channel.layers.at(static_cast<std::size_t>(layers[k])).implied_map.whole();
        const std::int64_t size = found.extent(1) * found.extent(2);
        const float* reference =
            maps.data() + (static_cast<std::int64_t>(k) * maps.extent(1) + channel) * size;
        for (std::int64_t i = 0; i < size; ++i) {
          ASSERT_NEAR(found.data()[i], reference[i], 1e-5F) << "layer " << layers[k];
        }
      }
    }
    return;
  }
  for (const std::int64_t layer : layers) {
    const Tensor& found = trace.layers.at(static_cast<std::size_t>(layer)).implied_map.whole();
    for (const float value : found.values()) ASSERT_NEAR(value, *expected++, 1e-5F) << layer;
  }
}

TEST_P(SampleModel, ASampleImagePassesItsPreprocessingUnchanged) {
  const auto model = load_model(kSamples / "models" / (std::string(GetParam()) + ".h5"));
  const Input input = open_input((kSamples / "inputs" / "00_t_shirt.png").string());
  const Trace trace = model->run(input, model->spec().mechanism, {}, {});
  ASSERT_TRUE(trace.image());
  EXPECT_EQ(trace.image()->pixels, std::get<Image>(input.content).pixels);
  EXPECT_EQ(trace.layout.rows, 14);
  EXPECT_EQ(trace.tokens(), model->spec().input.class_tokens + 196);
}

INSTANTIATE_TEST_SUITE_P(All, SampleModel,
                         testing::Values("fashion-softmax", "fashion-softmax-64", "fashion-adder",
                                         "fashion-adder-64", "fashion-adder-identity",
                                         "fashion-adder-network", "fashion-adder-network-identity",
                                         "fashion-daft-full", "fashion-daft-conv", "fashion-hash"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace attnscope
