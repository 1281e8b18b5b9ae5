// The sample language models compared with NumPy: sample_data/recipe/language_reference.py.
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/model/evaluation/text_evaluation.h"
#include "core/model/model.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::filesystem::path kLanguageSamples = source_folder() + "/sample_data";

class SampleLanguageModel : public testing::TestWithParam<const char*> {};

TEST_P(SampleLanguageModel, AgreesWithNumPy) {
  const std::string name = GetParam();
  const auto model = load_model(kLanguageSamples / "models" / (name + ".h5"));
  EXPECT_EQ(model->name(), name);
  EXPECT_TRUE(model->assumptions().empty());
  const Input input = open_input((kLanguageSamples / "inputs" / "20_prospero.txt").string());
  TraceRequest request;
  request.token_logits = true;
  const Trace trace = model->run(input, model->spec().mechanism, request, {});
  EXPECT_TRUE(trace.mechanism_trained);
  EXPECT_EQ(trace.layout.texts.at(0), "P");
  const Checkpoint reference = open_checkpoint(kLanguageSamples / "reference" / (name + ".npz"));
  const Tensor logits = reference.at("logits").view().to_float();
  ASSERT_EQ(trace.token_logits.shape(), logits.shape());
  for (std::int64_t i = 0; i < logits.size(); ++i) {
    ASSERT_NEAR(trace.token_logits.data()[i], logits.data()[i], 5e-5F) << i;
  }
  const Tensor maps = reference.at("implied_maps").view().to_float();  // [2, 2, N, N]
  const float* expected = maps.data();
  for (const std::int64_t layer : reference.at("layers").view().to_int64()) {
    const Tensor& found = trace.layers.at(static_cast<std::size_t>(layer)).implied_map.whole();
    ASSERT_EQ(found.extent(1), maps.extent(2));
    for (std::int64_t i = 0; i < 2 * maps.extent(2) * maps.extent(3); ++i) {
      ASSERT_NEAR(found.data()[i], *expected++, 1e-5F) << layer << ", " << i;
    }
  }
}

/// A model that was loaded wrongly would not predict better than chance, about 6 bits.
TEST_P(SampleLanguageModel, PredictsShakespeare) {
  const auto model = load_model(kLanguageSamples / "models" / (std::string(GetParam()) + ".h5"));
  const Input input = open_input((kLanguageSamples / "inputs" / "22_gremio.txt").string());
  const TextEvaluation result =
      evaluate_text(*model, model->spec().mechanism, std::get<Text>(input.content), {}, {});
  EXPECT_LT(result.bits_per_character(), 3.6);
  EXPECT_GT(result.bits_per_character(), 2);
}

INSTANTIATE_TEST_SUITE_P(Samples, SampleLanguageModel,
                         testing::Values("shakespeare-fastformer", "shakespeare-softmax"));

}  // namespace
}  // namespace attnscope
