#include "analysis/weights/weight_spectra.h"

#include <cmath>
#include <complex>
#include <limits>

#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/rank.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

/// Singular values of left · right, [D, d] and [d, D'], from the triangular factors of their QR.
std::vector<double> product_values(const MatrixD& left, const MatrixD& right) {
  const Eigen::MatrixXd first = triangular_factor(left);
  const Eigen::MatrixXd second = triangular_factor(right.transpose());
  const Eigen::VectorXd values = singular_values_of(first * second.transpose());
  return {values.begin(), values.end()};
}

/// Σλ / Σ|λ| of left · right, from the eigenvalues of right · left, which are equal except for
/// zeros.
double copying_of(const MatrixD& left, const MatrixD& right) {
  if (left.rows() != right.cols()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0, sizes = 0;
  for (const std::complex<double>& value : eigenvalues_of(right * left)) {
    sum += value.real();
    sizes += std::abs(value);
  }
  return sizes > 0 ? sum / sizes : std::numeric_limits<double>::quiet_NaN();
}

WeightSpectrum spectrum_of_product(const MatrixD& left, const MatrixD& right,
                                   const RankThreshold& threshold) {
  WeightSpectrum found;
  found.width = left.rows();
  found.singular_values = product_values(left, right);
  found.equivalent_rank = static_cast<double>(equivalent_rank(found.singular_values, threshold));
  found.effective_rank = effective_rank(found.singular_values);
  found.stable_rank = stable_rank(found.singular_values);
  found.copying = copying_of(left, right);
  return found;
}

/// Columns of one head if `heads` heads share `own` groups of columns.
MatrixD columns_of_head(const MatrixD& all, std::int64_t head, std::int64_t heads,
                        std::int64_t own) {
  const std::int64_t width = all.cols() / own;
  return all.middleCols(head * own / heads * width, width);
}

void add_layer(const Block& block, std::int64_t layer, WeightProduct product,
               const RankThreshold& threshold, std::vector<WeightSpectrum>& spectra) {
  const AttentionPart& part = block.attention;
  const std::int64_t heads = block.spec.attention.heads, own = block.spec.key_heads();
  const bool scores = product == WeightProduct::qk;
  const MatrixD left = matrix_of(scores ? part.query : part.value);
  MatrixD right;  // rows per head: [H·d, D]
  if (scores) {
    right = matrix_of(part.key ? *part.key : part.query);
  } else if (part.out) {
    right = matrix_of(*part.out);
  } else {
    right = MatrixD::Identity(heads * left.cols() / own, heads * left.cols() / own);
  }
  for (std::int64_t head = 0; head < heads; ++head) {
    const MatrixD first = columns_of_head(left, head, heads, scores ? heads : own);
    const std::int64_t width = right.rows() / heads;
    const MatrixD second =
        scores ? MatrixD(columns_of_head(right, head, heads, part.key ? own : heads).transpose())
               : MatrixD(right.middleRows(head * width, width));
    WeightSpectrum spectrum = spectrum_of_product(first, second, threshold);
    spectrum.layer = layer;
    spectrum.head = head;
    spectra.push_back(std::move(spectrum));
  }
}

}  // namespace

std::vector<WeightSpectrum> weight_spectra(const Model& model, WeightProduct product,
                                           const RankThreshold& threshold,
                                           const Progress& progress) {
  check_threshold(threshold);
  const Transformer& transformer = transformer_of(model);
  std::vector<WeightSpectrum> spectra;
  for (std::int64_t layer = 0; layer < model.spec().layers; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(model.spec().layers),
                  "spectra of weights");
    require_products(transformer, layer);
    const Block& block = block_of(transformer, layer);
    if (block.spec.form != LayerForm::transformer) {
      throw Error(ErrorKind::usage, "Fastformer's heads have no products of two matrices")
          .in_file(model.file());
    }
    if (product == WeightProduct::qk && block.spec.attention.cosine) {
      throw Error(ErrorKind::usage, "scores are cosines of queries and keys, not their products")
          .in_file(model.file())
          .about("qk")
          .remedy("--of ov");
    }
    const std::string& attention = mechanism_of(model.spec(), layer).name;
    if (product == WeightProduct::qk && !find_mechanism(attention).scaled) {
      throw Error(ErrorKind::usage,
                  "W_QK is not defined for an attention that does not score by q·k")
          .about("layer " + std::to_string(layer))
          .in_file(model.file())
          .found(attention + " attention")
          .remedy("--of ov");
    }
    add_layer(block, layer, product, threshold, spectra);
  }
  progress.step(1, "spectra of weights");
  return spectra;
}

}  // namespace attnscope
