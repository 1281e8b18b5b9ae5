// Numbers of weights without input, compared with NumPy's, which multiplies all products out, and
// with the functions of the papers' authors (tests/data/weights/make_weights.py).
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analysis/weights/weight_analysis.h"
#include "core/error.h"
#include "core/tensor/decompose.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

constexpr double kAllowed = 1e-6;

const nlohmann::json& weights_reference() { return read_test_data("weights/weights.json"); }

std::shared_ptr<const Model> hashed_model(const std::string& name) {
  const TemporaryFolder folder;
  const std::string family = "hugging_face_" + name;
  (void)folder.write("config.json",
                     read_test_data("models/families/" + family + ".json").at("config").dump());
  write_hashed_safetensors(folder / "model.safetensors", family_shapes(family));
  return load_model(folder / "model.safetensors");
}

std::shared_ptr<const Model> model_with_file(const std::string& name) {
  return load_model(source_folder() + "/sample_data/models/" + name + ".h5");
}

/// The entry of a list for a layer or head.
const nlohmann::json& entry(const nlohmann::json& list, std::int64_t index) {
  return list.at(static_cast<std::size_t>(index));
}

void expect_numbers(const std::vector<double>& found, const nlohmann::json& expected,
                    const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i].get<double>(), kAllowed) << what << " " << i;
  }
}

void expect_matrix(const MatrixSpectrum& found, const nlohmann::json& expected) {
  const std::string what = "layer " + std::to_string(found.layer) + ", " +
                           std::string(name_of(layer_matrix_names, found.matrix));
  expect_numbers({static_cast<double>(found.inputs), static_cast<double>(found.outputs)},
                 expected.at("shape"), what);
  EXPECT_NEAR(found.norm, expected.at("norm").get<double>(), kAllowed) << what;
  EXPECT_NEAR(found.singular_values.front(), expected.at("largest").get<double>(), kAllowed);
  EXPECT_EQ(found.equivalent_rank, expected.at("rank").get<double>()) << what;
  EXPECT_NEAR(found.stable_rank, expected.at("stable").get<double>(), kAllowed) << what;
  EXPECT_NEAR(found.noise_edge, expected.at("edge").get<double>(), kAllowed) << what;
  EXPECT_EQ(found.above_noise, expected.at("above").get<double>()) << what;
  if (found.singular_values.size() >= least_tail_values) {
    expect_numbers({found.tail.exponent, found.tail.distance, found.tail.minimum,
                    static_cast<double>(found.tail.values)},
                   expected.at("tail"), what);
  } else {
    EXPECT_TRUE(std::isnan(found.tail.exponent)) << what;
    EXPECT_EQ(found.tail.values, -1) << what;
  }
}

class WeightsAgainstNumPy : public testing::TestWithParam<const char*> {};

TEST_P(WeightsAgainstNumPy, SymmetryAndDirectionalityAreTheAuthors) {
  const auto model = hashed_model(GetParam());
  const nlohmann::json& expected = weights_reference().at(GetParam());
  for (const WeightSpectrum& head : weight_spectra(*model, WeightProduct::qk)) {
    expect_numbers({head.symmetry, head.directionality},
                   entry(entry(expected.at("heads"), head.layer), head.head), "head");
  }
  for (const WeightSpectrum& layer : layer_weight_spectra(*model, WeightProduct::qk)) {
    expect_numbers({layer.symmetry, layer.directionality},
                   entry(expected.at("qk_layers"), layer.layer), "layer");
  }
}

TEST_P(WeightsAgainstNumPy, ProductsOfLayersAreTheSumsOverTheirHeads) {
  const auto model = hashed_model(GetParam());
  const nlohmann::json& expected = weights_reference().at(GetParam());
  for (const auto& [product, key] : {std::pair{WeightProduct::qk, "qk_layer_values"},
                                     std::pair{WeightProduct::ov, "ov_layer_values"}}) {
    for (const WeightSpectrum& layer : layer_weight_spectra(*model, product)) {
      EXPECT_EQ(layer.head, -1);
      expect_numbers({layer.singular_values.begin(), layer.singular_values.begin() + 4},
                     entry(expected.at(key), layer.layer), key);
      if (product == WeightProduct::ov) {
        EXPECT_TRUE(std::isnan(layer.symmetry));
        EXPECT_NEAR(layer.copying, entry(expected.at("ov_layers"), layer.layer).get<double>(),
                    kAllowed);
      }
    }
  }
}

TEST_P(WeightsAgainstNumPy, CompositionIsThatOfTheFullProducts) {
  const auto model = hashed_model(GetParam());
  const nlohmann::json& expected = weights_reference().at(GetParam());
  for (const auto& [kind, key] :
       {std::pair{Composition::queries, "q"}, std::pair{Composition::keys, "k"},
        std::pair{Composition::values, "v"}}) {
    const auto pairs = head_compositions(*model, kind);
    ASSERT_EQ(pairs.size(), expected.at("pairs").size());
    double last = 1;
    for (const HeadComposition& pair : pairs) {
      const nlohmann::json place = {pair.from_layer, pair.from_head, pair.to_layer, pair.to_head};
      const auto at = std::ranges::find(expected.at("pairs"), place) - expected.at("pairs").begin();
      EXPECT_NEAR(pair.value, expected.at(key).at(static_cast<std::size_t>(at)).get<double>(),
                  kAllowed)
          << key << " " << place;
      EXPECT_NEAR(pair.baseline, 1 / std::sqrt(32.0), 1e-12);
      EXPECT_LE(pair.value, last) << "in descending order";
      last = pair.value;
    }
  }
}

// Mistral's heads share keys and values; GPT-2's projections are fused and have biases.
INSTANTIATE_TEST_SUITE_P(Models, WeightsAgainstNumPy, testing::Values("mistral", "gpt2"));

TEST(WeightsReference, ProductsOfLatentHeadsLieBetweenTheLatents) {
  for (const auto& [name, expected] : weights_reference().at("latents").items()) {
    const auto model = hashed_model(name);
    for (const auto& [product, key] :
         {std::pair{WeightProduct::qk, "qk"}, std::pair{WeightProduct::ov, "ov"}}) {
      const auto spectra = weight_spectra(*model, product);
      ASSERT_EQ(spectra.size(), expected.at(key).size());
      for (std::size_t i = 0; i < spectra.size(); ++i) {
        expect_numbers(spectra[i].singular_values, expected.at(key).at(i), name + key);
        // Rows and columns are no vectors of one kind.
        EXPECT_TRUE(std::isnan(spectra[i].copying) && std::isnan(spectra[i].symmetry));
      }
    }
    EXPECT_THROW((void)head_compositions(*model, Composition::values), Error);
    const auto matrices = matrix_spectra(*model);
    const bool narrow = name == "deepseek_v2";
    EXPECT_EQ(matrices.front().matrix, narrow ? LayerMatrix::query_latent : LayerMatrix::latent);
    const auto key = std::ranges::find(matrices, LayerMatrix::key, &MatrixSpectrum::matrix);
    ASSERT_NE(key, matrices.end());
    EXPECT_EQ(key->inputs, 20);
    EXPECT_EQ(key->outputs, 40);
  }
}

TEST(WeightsReference, PowerLawsAreWeightWatchers) {
  for (const auto& [name, power] :
       {std::pair{"even", 1}, std::pair{"cubes", 3}, std::pair{"wide", 9}}) {
    const nlohmann::json& expected = weights_reference().at("hashed").at(name);
    const std::int64_t rows = expected.at("shape")[0], columns = expected.at("shape")[1];
    const std::vector<double> uniform = hashed_uniform(name, rows * columns);
    const MatrixD matrix =
        Eigen::Map<const MatrixD>(uniform.data(), rows, columns).array().pow(power);
    std::vector<double> squares;
    for (const double value : singular_values_of(matrix)) squares.push_back(value * value);
    const PowerLawTail tail = power_law_tail(squares);
    expect_numbers({tail.exponent, tail.distance, tail.minimum, static_cast<double>(tail.values)},
                   expected.at("tail"), name);
  }
}

TEST(WeightsReference, MatricesOfASampleModelAreThoseInItsFile) {
  const auto model = model_with_file("shakespeare-softmax");
  const auto spectra = matrix_spectra(*model);
  ASSERT_EQ(spectra.size(), 36U);
  for (const std::size_t layer : {0U, 5U}) {
    for (std::size_t i = 0; i < 6; ++i) {
      const MatrixSpectrum& found = spectra[6 * layer + i];
      EXPECT_EQ(found.layer, static_cast<std::int64_t>(layer));
      expect_matrix(found, weights_reference().at("sample").at(layer / 5).at(i));
      EXPECT_TRUE(std::isnan(found.relative_norm));
    }
  }
}

TEST(WeightsReference, DifferencesAreThoseOfTheFiles) {
  const auto model = model_with_file("fashion-softmax"), minus = model_with_file("fashion-hash");
  const auto spectra = difference_spectra(*model, *minus);
  const auto found = std::ranges::find_if(spectra, [](const MatrixSpectrum& one) {
    return one.layer == 1 && one.matrix == LayerMatrix::mlp_in;
  });
  ASSERT_NE(found, spectra.end());
  expect_matrix(*found, weights_reference().at("difference"));
  EXPECT_NEAR(found->relative_norm, weights_reference().at("relative").get<double>(), kAllowed);
}

}  // namespace
}  // namespace attnscope
