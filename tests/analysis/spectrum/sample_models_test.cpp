// The sample models from file to spectrum, compared with NumPy in double precision
// (sample_data/reference).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

#include "analysis/spectrum/rank.h"
#include "analysis/spectrum/spectrum.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/model.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

const std::string kSamples = source_folder() + "/sample_data/";

std::vector<double> doubles(const StoredTensor& tensor) {
  EXPECT_EQ(tensor.dtype, DType::f64);
  const TensorView view = tensor.view();
  EXPECT_TRUE(view.is_contiguous());
  std::vector<double> values(static_cast<std::size_t>(element_count(view.shape)));
  std::memcpy(values.data(), view.data, values.size() * sizeof(double));
  return values;
}

class SampleModel : public testing::TestWithParam<const char*> {
 protected:
  SampleModel()
      : reference_(open_checkpoint(kSamples + "reference/" + GetParam() + ".npz")),
        model_(load_model(kSamples + "models/" + GetParam() + ".h5")) {
    Input input;
    input.content = reference_.at("input").view().to_float();
    trace_ = model_->run(input, model_->spec().mechanism, {}, {});
  }

  Checkpoint reference_;
  std::shared_ptr<const Model> model_;
  Trace trace_;
};

TEST_P(SampleModel, LogitsAndMapsAgree) {
  const std::vector<double> logits = doubles(reference_.at("logits"));
  ASSERT_EQ(trace_.logits.size(), static_cast<std::int64_t>(logits.size()));
  // Adder networks add up distances: small logits have the rounding error of the largest, up to
  // 2e-5 with the kernels of some processors.
  const bool adds_distances = std::string(GetParam()).find("adder-network") != std::string::npos;
  double largest = 0;
  for (const double logit : logits) largest = std::max(largest, std::abs(logit));
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double of = adds_distances ? largest : std::max(1.0, std::abs(logits[i]));
    EXPECT_NEAR(trace_.logits.values()[i], logits[i], 1e-5 * of);
  }
  const std::vector<std::int64_t> layers = reference_.at("layers").view().to_int64();
  const Tensor expected = reference_.at("implied_maps").view().to_float();
  std::int64_t offset = 0;
  for (const std::int64_t layer : layers) {
    const Tensor& map = trace_.layers[static_cast<std::size_t>(layer)].implied_map.whole();
    for (std::int64_t i = 0; i < map.size(); ++i) {
      ASSERT_NEAR(map.data()[i], expected.data()[offset + i], 1e-5);
    }
    offset += map.size();
  }
  EXPECT_EQ(offset, expected.size());
}

TEST_P(SampleModel, SpectraAgree) {
  for (const bool plus_identity : {false, true}) {
    // The file holds map + I even for the map that already contains I, to which the program never
    // adds it again.
    if (plus_identity && trace_.identity_in_maps) continue;
    const std::vector<double> expected =
        doubles(reference_.at(plus_identity ? "singular_values_plus_identity" : "singular_values"));
    const std::vector<MapSpectrum> spectra =
        spectra_of(trace_, plus_identity ? IdentityView::with : IdentityView::as_is);
    ASSERT_EQ(expected.size(), spectra.size() * 197);
    for (std::size_t i = 0; i < spectra.size(); ++i) {
      ASSERT_EQ(spectra[i].state, SpectrumState::ready);
      const std::vector<double> share = cumulative_share(spectra[i].singular_values);
      const std::vector<double> reference =
          cumulative_share({expected.data() + i * 197, std::size_t{197}});
      for (std::size_t r = 0; r < share.size(); ++r) {
        ASSERT_NEAR(share[r], reference[r], 1e-5 * reference[r]) << i << ", " << r;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fashion, SampleModel,
                         testing::Values("fashion-softmax", "fashion-softmax-64", "fashion-adder",
                                         "fashion-adder-64", "fashion-adder-identity",
                                         "fashion-adder-network",
                                         "fashion-adder-network-identity"));

}  // namespace
}  // namespace attnscope
