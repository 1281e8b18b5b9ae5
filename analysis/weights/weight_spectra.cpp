#include "analysis/weights/weight_spectra.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"
#include "analysis/weights/product_symmetry.h"
#include "core/tensor/blas.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// True if triangles of the factors would be nearly as large as their product.
bool is_multiplied_out(const HeadFactors& factors) {
  return 2 * factors.left.cols() > std::min(factors.left.rows(), factors.right.cols());
}

/// Singular values of left · right, [D, d] and [d, D'], from the triangular factors of their QR.
Eigen::VectorXd values_of_thin_product(const HeadFactors& factors) {
  const Eigen::MatrixXd first = triangular_factor(factors.left);
  const Eigen::MatrixXd second = triangular_factor(factors.right.transpose());
  return singular_values_of(first * second.transpose());
}

/// Σλ / Σ|λ| of left · right, from the eigenvalues of right · left, which are equal except for
/// zeros.
double copying_of(const HeadFactors& factors) {
  const auto& [left, right, one_space] = factors;
  if (!one_space || left.rows() != right.cols()) return kNoNumber;
  double sum = 0, sizes = 0;
  for (const std::complex<double>& value : eigenvalues_of(
           left.cols() <= left.rows() ? dense_product(right, left) : dense_product(left, right))) {
    sum += value.real();
    sizes += std::abs(value);
  }
  return sizes > 0 ? sum / sizes : kNoNumber;
}

/// `head` is −1 for a whole layer.
WeightSpectrum spectrum_of_product(const HeadFactors& factors, WeightProduct product,
                                   const RankThreshold& threshold, std::int64_t layer,
                                   std::int64_t head) {
  ProductSymmetry symmetry = {kNoNumber, kNoNumber};
  const bool measures = product == WeightProduct::qk && factors.one_space;
  Eigen::VectorXd values;
  if (is_multiplied_out(factors)) {
    const MatrixD matrix = dense_product(factors.left, factors.right);
    values = singular_values_of(matrix);
    values.conservativeResize(std::min(values.size(), factors.left.cols()));  // the others are 0
    if (measures) symmetry = product_symmetry(matrix);
  } else {
    values = values_of_thin_product(factors);
    if (measures) symmetry = product_symmetry(factors.left, factors.right);
  }
  WeightSpectrum found;
  found.layer = layer;
  found.head = head;
  found.width = factors.left.rows();
  found.singular_values.assign(values.begin(), values.end());
  const bool known = values.size() > 0 && values.allFinite();
  found.equivalent_rank =
      known ? static_cast<double>(equivalent_rank(found.singular_values, threshold)) : kNoNumber;
  found.effective_rank = known ? effective_rank(found.singular_values) : kNoNumber;
  found.stable_rank = known ? stable_rank(found.singular_values) : kNoNumber;
  // The eigenvalues of a whole layer's W_QK would take most of the time.
  found.copying = head >= 0 || product == WeightProduct::ov ? copying_of(factors) : kNoNumber;
  found.symmetry = symmetry.symmetry;
  found.directionality = symmetry.directionality;
  return found;
}

/// Calls `take(layer)` for each layer of the model and reports the progress.
template <class Take>
void for_layers(const Model& model, const Progress& progress, Take&& take) {
  const std::int64_t layers = model.spec().layers;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(layers), "spectra of weights");
    take(layer);
  }
  progress.step(1, "spectra of weights");
}

}  // namespace

std::vector<WeightSpectrum> weight_spectra(const Model& model, WeightProduct product,
                                           const RankThreshold& threshold,
                                           const Progress& progress) {
  check_threshold(threshold);
  std::vector<WeightSpectrum> spectra;
  for_layers(model, progress, [&](std::int64_t layer) {
    std::int64_t head = 0;
    for (const HeadFactors& factors : head_factors(model, layer, product)) {
      spectra.push_back(spectrum_of_product(factors, product, threshold, layer, head++));
    }
  });
  return spectra;
}

std::vector<WeightSpectrum> layer_weight_spectra(const Model& model, WeightProduct product,
                                                 const RankThreshold& threshold,
                                                 const Progress& progress) {
  check_threshold(threshold);
  std::vector<WeightSpectrum> spectra;
  for_layers(model, progress, [&](std::int64_t layer) {
    spectra.push_back(
        spectrum_of_product(layer_factors(model, layer, product), product, threshold, layer, -1));
  });
  return spectra;
}

}  // namespace attnscope
