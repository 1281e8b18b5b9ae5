// θ and the width of heads from the inverse frequencies stored with the weights.
#include "core/architecture/spec_from_tensors/rotary_frequencies.h"

#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The frequencies θ^(−2i/r) · `scale` as float32, rounded so that their last `zeros` bits are 0,
/// like after storage in 16 bits.
Tensor inverse_frequencies(double theta, std::int64_t count, int zeros = 0, double scale = 1) {
  Tensor values({count});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto exact_one = static_cast<float>(
        scale * std::pow(theta, -static_cast<double>(i) / static_cast<double>(count)));
    const std::uint32_t half = zeros > 0 ? 1U << (zeros - 1) : 0U;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(exact_one) + half;
    values.data()[i] = std::bit_cast<float>(bits >> zeros << zeros);
  }
  return values;
}

StoredTensor stored_tensor(const Tensor& values) {
  return {"inv_freq", DType::f32, values.shape(), 4 * values.size(), [values] {
            const auto kept = std::make_shared<Tensor>(values);
            TensorView view;
            view.shape = kept->shape();
            view.strides = TensorView::contiguous_strides(kept->shape());
            view.data = reinterpret_cast<const std::byte*>(kept->data());
            view.storage = kept;
            return view;
          }};
}

TEST(RotaryFrequencies, RecoverThetaFromRoundedValues) {
  for (const double theta : {10000.0, 500000.0, 1e6, 160000.0, 8e6}) {
    for (const int zeros : {0, 13, 16}) {  // the fractions of float32, float16 and bfloat16
      const StoredFrequencies found =
          rotary_frequencies(stored_tensor(inverse_frequencies(theta, 64, zeros)));
      EXPECT_EQ(found.width, 128);
      EXPECT_EQ(found.theta(), theta) << zeros;
    }
  }
  EXPECT_FALSE(rotary_frequencies(stored_tensor(inverse_frequencies(10000, 1))).theta());
  EXPECT_TRUE(rotary_frequencies(stored_tensor(inverse_frequencies(1e6, 64))).fit(1e6));
  EXPECT_FALSE(rotary_frequencies(stored_tensor(inverse_frequencies(1e6, 64))).fit(1.01e6));
}

/// Opens a Llama with two layers and heads of 8 channels whose file stores `values`.
class FileWithFrequencies : public testing::Test {
 protected:
  Architecture open(const Tensor& values, const ModelOptions& options = {}) {
    NamedShapes shapes = family_shapes("hugging_face_llama");
    std::map<std::string, Tensor> given;
    for (const char* layer : {"0", "1"}) {
      const std::string name =
          "model.layers." + std::string(layer) + ".self_attn.rotary_emb.inv_freq";
      shapes.emplace_back(name, values.shape());
      given.emplace(name, values);
    }
    write_hashed_safetensors(folder_ / "model.safetensors", shapes, given);
    return recognise_architecture(open_checkpoint(folder_.path()), options);
  }

  std::string refusal(const Tensor& values, const ModelOptions& options = {}) {
    try {
      (void)open(values, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder folder_;
};

TEST_F(FileWithFrequencies, ReadsThetaAndHeads) {
  const Architecture found = open(inverse_frequencies(500000, 4));
  EXPECT_EQ(found.spec.layer.rotary.theta, 500000);
  EXPECT_EQ(found.spec.layer.attention.heads, 4);
  EXPECT_TRUE(found.unused.empty());
  for (const Assumption& assumed : found.assumptions) {
    EXPECT_NE(assumed.option, "heads");
    EXPECT_TRUE(assumed.option != "layer.rotary.theta" || assumed.stated) << assumed.reason;
  }
}

TEST_F(FileWithFrequencies, RefusesAConfigurationWithADifferentTheta) {
  (void)folder_.write("config.json",
                      read_test_data("models/families/hugging_face_llama.json")["config"].dump());
  EXPECT_EQ(refusal(inverse_frequencies(10000, 4)), "no error");
  EXPECT_THAT(refusal(inverse_frequencies(500000, 4)),
              AllOf(HasSubstr("config.json"), HasSubstr("rope_theta"),
                    HasSubstr("self_attn.rotary_emb.inv_freq"), HasSubstr("expected 500000"),
                    HasSubstr("found 10000")));
  EXPECT_EQ(refusal(inverse_frequencies(500000, 4), {{{"ignore", "*inv_freq"}}, {}}), "no error");
  // Heads of 8 channels rotate by four angles, but the file has eight.
  EXPECT_THAT(refusal(inverse_frequencies(10000, 8)), HasSubstr("stored inverse frequencies"));
}

TEST_F(FileWithFrequencies, RefusesFrequenciesThatFitNoTheta) {
  const ModelOptions heads = {{{"heads", "4"}}, {}};
  EXPECT_THAT(refusal(inverse_frequencies(10000, 4, 0, 0.25), heads),
              AllOf(HasSubstr("model.layers.0.self_attn.rotary_emb.inv_freq"),
                    HasSubstr("θ^(−2i/r)"), HasSubstr("ignore='*inv_freq'")));
  Tensor stretched = inverse_frequencies(10000, 4);
  stretched.data()[3] /= 2;
  EXPECT_THAT(refusal(stretched, heads), HasSubstr("not those of one θ"));
}

TEST_F(FileWithFrequencies, RefusesAnOptionWithADifferentTheta) {
  EXPECT_THAT(refusal(inverse_frequencies(500000, 4), {{{"layer.rotary.theta", "10000"}}, {}}),
              AllOf(HasSubstr("the option"), HasSubstr("expected 500000"), HasSubstr("10000")));
  EXPECT_EQ(refusal(inverse_frequencies(500000, 4), {{{"layer.rotary.theta", "500000"}}, {}}),
            "no error");
}

TEST_F(FileWithFrequencies, GivesThetaOfMetasLlamaNextToParamsJson) {
  const auto opened = [&](double theta, const ModelOptions& options = {}) {
    NamedShapes shapes = family_shapes("meta_llama");
    shapes.emplace_back("rope.freqs", Shape{4});
    // Stored in bfloat16, whose fraction ends 16 bits before that of float32.
    write_hashed_safetensors(folder_ / "model.safetensors", shapes,
                             {{"rope.freqs", inverse_frequencies(theta, 4, 16)}});
    return recognise_architecture(open_checkpoint(folder_.path()), options);
  };
  const Architecture found = opened(500000);
  EXPECT_EQ(found.name, "Meta Llama");
  EXPECT_EQ(found.spec.layer.rotary.theta, 500000);
  EXPECT_EQ(found.spec.layer.attention.heads, 4);
  EXPECT_TRUE(found.unused.empty());
  const nlohmann::json params = {{"dim", 32},          {"n_layers", 2},    {"n_heads", 4},
                                 {"n_kv_heads", 2},    {"vocab_size", -1}, {"norm_eps", 1e-5},
                                 {"multiple_of", 256}, {"rope_theta", 1e6}};
  (void)folder_.write("params.json", params.dump());
  EXPECT_EQ(opened(1e6).spec.layer.rotary.theta, 1e6);
  EXPECT_THAT(error_of([&] { return opened(500000); }),
              AllOf(HasSubstr("params.json"), HasSubstr("stored in rope.freqs"),
                    HasSubstr("found 1000000"), HasSubstr("ignore='*rope.freqs'")));
  EXPECT_EQ(opened(500000, {{{"ignore", "*rope.freqs"}}, {}}).spec.layer.rotary.theta, 1e6);
}

}  // namespace
}  // namespace attnscope
