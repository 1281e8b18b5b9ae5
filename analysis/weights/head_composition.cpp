#include "analysis/weights/head_composition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tbb/parallel_for.h>

#include "analysis/weights/head_factors.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "core/tensor/blas.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

/// A matrix with the same Frobenius norm as a head's product, and with the same norm of its product
/// with another head's.
struct ReducedHead {
  MatrixD matrix;   ///< [d, D] if an earlier head writes it, [D, d] if a later one reads it
  double norm = 0;  ///< Frobenius norm of the head's product
};

ReducedHead reduced(MatrixD matrix) {
  const double norm = matrix.norm();
  return {std::move(matrix), norm};
}

// Let W_V = Q_V T_V with orthonormal columns Q_V, and likewise for the outermost factor of the
// later head, say W_K = Q_K T_K. Then ‖W_V W_O W_Q W_Kᵀ‖ = ‖(T_V W_O)(W_Q T_Kᵀ)‖, since Q_V and Q_K
// keep norms. The two brackets are [d, D] and [D, d], and their own norms are ‖W_OV‖ and ‖W_QK‖.

std::vector<ReducedHead> written(const Model& model, std::int64_t layer) {
  std::vector<ReducedHead> heads;
  for (const HeadFactors& ov : head_factors(model, layer, WeightProduct::ov)) {
    heads.push_back(reduced(dense_product(triangular_factor(ov.left), ov.right)));
  }
  return heads;
}

std::vector<ReducedHead> read_in(const Model& model, std::int64_t layer, Composition kind) {
  const WeightProduct product = kind == Composition::values ? WeightProduct::ov : WeightProduct::qk;
  std::vector<ReducedHead> heads;
  for (const HeadFactors& factors : head_factors(model, layer, product)) {
    const auto& [left, right, one_space] = factors;
    heads.push_back(
        reduced(kind == Composition::keys
                    ? dense_product(right.transpose(), triangular_factor(left).transpose())
                    : dense_product(left, triangular_factor(right.transpose()).transpose())));
  }
  return heads;
}

bool reads_stream(const Block& block, Composition kind) {
  return kind == Composition::queries || block.spec.attention.of != Attending::encoder;
}

// The baseline: with U uniform among rotations, E[U X Uᵀ] = tr(X)/D · I for X = B Bᵀ, so that
// E‖A U B‖² = tr(Aᵀ A E[U B Bᵀ Uᵀ]) = ‖A‖² ‖B‖² / D.
double value_between(const ReducedHead& from, const ReducedHead& to) {
  const double norms = from.norm * to.norm;
  // Without an output projection a head may write fewer or more numbers than D.
  if (!(norms > 0) || from.matrix.cols() != to.matrix.rows())
    return std::numeric_limits<double>::quiet_NaN();
  return dense_product(from.matrix, to.matrix).norm() / norms;
}

/// True if `a` comes before `b`: the greater value above its baseline, and numbers before NaN.
bool composes_more(const HeadComposition& a, const HeadComposition& b) {
  const double first = a.above_baseline(), second = b.above_baseline();
  if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
  return first > second;
}

}  // namespace

std::vector<HeadComposition> head_compositions(const Model& model, Composition kind,
                                               const Progress& progress) {
  const Transformer& transformer = transformer_of(model);
  const std::vector<std::size_t> stages = layer_stages(model);
  const std::int64_t layers = std::ssize(stages);
  if (model.spec().layer.attention.latent_width > 0) {
    throw Error(ErrorKind::usage,
                "heads that read latents have no products with what earlier heads write: norms lie "
                "between")
        .in_file(model.file())
        .about("layer.attention.latent_width")
        .remedy("--of qk, ov or matrices");
  }
  std::vector<std::vector<ReducedHead>> earlier;  // heads of each layer so far
  std::vector<HeadComposition> pairs;
  for (std::int64_t to = 0; to < layers; ++to) {
    progress.step(static_cast<double>(to) / static_cast<double>(layers), "composition of heads");
    const std::size_t stage = stages[static_cast<std::size_t>(to)];
    if (to > 0 && stages[static_cast<std::size_t>(to - 1)] != stage) {
      for (std::vector<ReducedHead>& heads : earlier) heads.clear();
    }
    const bool reads = reads_stream(block_of(transformer, to), kind);
    const std::vector<ReducedHead> later =
        reads ? read_in(model, to, kind) : std::vector<ReducedHead>();
    for (std::int64_t from = 0; from < to && !later.empty(); ++from) {
      progress.step(
          (static_cast<double>(to) + static_cast<double>(from) / static_cast<double>(to)) /
              static_cast<double>(layers),
          "composition of heads");
      const std::vector<ReducedHead>& heads = earlier[static_cast<std::size_t>(from)];
      const std::size_t first = pairs.size();
      for (std::size_t i = 0; i < heads.size(); ++i) {
        for (std::size_t k = 0; k < later.size(); ++k) {
          const auto width = static_cast<double>(later[k].matrix.rows());
          pairs.push_back({from, static_cast<std::int64_t>(i), to, static_cast<std::int64_t>(k), 0,
                           1 / std::sqrt(width)});
        }
      }
      tbb::parallel_for(first, pairs.size(), [&](std::size_t pair) {
        const std::size_t i = (pair - first) / later.size(), k = (pair - first) % later.size();
        pairs[pair].value = value_between(heads[i], later[k]);
      });
    }
    earlier.push_back(to + 1 < layers ? written(model, to) : std::vector<ReducedHead>());
  }
  if (pairs.empty()) {
    throw Error(ErrorKind::usage, "no two layers have heads that compose")
        .in_file(model.file())
        .expected("at least two layers of heads on the same residual stream")
        .found(std::to_string(layers) + (layers == 1 ? " layer" : " layers"));
  }
  std::stable_sort(pairs.begin(), pairs.end(), composes_more);
  progress.step(1, "composition of heads");
  return pairs;
}

}  // namespace attnscope
