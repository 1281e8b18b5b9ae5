// W_QK and W_OV from the weights only, compared with PyTorch.
#include "analysis/weights/weight_spectra.h"

#include <gtest/gtest.h>

#include "tests/support/inside_models.h"

namespace attnscope {
namespace {

TEST(WeightSpectra, AgreeWithPyTorch) {
  for (const char* const name : {"vit", "bert", "gpt2"}) {
    const InsideModel model(name);
    for (const auto& [product, array] :
         {std::pair{WeightProduct::qk, "qk"}, std::pair{WeightProduct::ov, "ov"}}) {
      const auto spectra = weight_spectra(*model.subject().model, product);
      const std::int64_t heads = model.subject().model->spec().layer.attention.heads;
      ASSERT_EQ(std::ssize(spectra), model.subject().model->spec().layers * heads);
      const WeightSpectrum& found = spectra[static_cast<std::size_t>(heads + 1)];
      EXPECT_EQ(found.layer, 1);
      EXPECT_EQ(found.head, 1);
      const MatrixD expected = model.expected(array);
      ASSERT_EQ(std::ssize(found.singular_values), expected.cols()) << "as many as a head is wide";
      for (std::size_t i = 0; i < found.singular_values.size(); ++i) {
        EXPECT_NEAR(found.singular_values[i], expected(0, static_cast<Eigen::Index>(i)), 1e-5);
      }
      EXPECT_NEAR(found.copying, model.expected_number(std::string(array) + "_copying"), 1e-5)
          << name << " " << array;
    }
  }
}

}  // namespace
}  // namespace attnscope
