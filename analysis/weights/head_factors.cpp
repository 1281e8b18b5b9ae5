#include "analysis/weights/head_factors.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

namespace {

/// Both projections of a product, with the numbers of groups of columns and rows that heads share.
struct Projections {
  MatrixD left;   ///< [D, left_groups · d]
  MatrixD right;  ///< [right_groups · d, D']
  std::int64_t heads = 1, left_groups = 1, right_groups = 1;
  bool one_space = true;

  [[nodiscard]] std::int64_t width() const { return left.cols() / left_groups; }
  [[nodiscard]] MatrixD left_of(std::int64_t group) const {
    return left.middleCols(group * width(), width());
  }
  [[nodiscard]] MatrixD right_of(std::int64_t group) const {
    return right.middleRows(group * width(), width());
  }
};

const Block& block_with_products(const Model& model, std::int64_t layer, WeightProduct product) {
  const Transformer& transformer = transformer_of(model);
  require_products(transformer, layer);
  const Block& block = block_of(transformer, layer);
  if (block.spec.form != LayerForm::transformer) {
    throw Error(ErrorKind::usage, "Fastformer's heads have no products of two matrices")
        .in_file(model.file());
  }
  if (product == WeightProduct::ov) return block;
  if (block.spec.attention.cosine) {
    throw Error(ErrorKind::usage, "scores are cosines of queries and keys, not their products")
        .in_file(model.file())
        .about("qk")
        .remedy("--of ov, ov-layer or v-composition");
  }
  if (block.attention.convolves() || block.spec.attention.halves) {
    throw Error(ErrorKind::usage, block.spec.attention.halves
                                      ? "the two halves of a head have scores of their own"
                                      : "queries and keys are convolved: W_QK is not their product")
        .in_file(model.file())
        .about("layer " + std::to_string(layer))
        .remedy("--of ov, ov-layer or v-composition");
  }
  const std::string& attention = mechanism_of(model.spec(), layer).name;
  if (!find_mechanism(attention).scaled) {
    throw Error(ErrorKind::usage, "W_QK is not defined for an attention that does not score by q·k")
        .about("layer " + std::to_string(layer))
        .in_file(model.file())
        .found(attention + " attention")
        .remedy("--of ov, ov-layer or v-composition");
  }
  return block;
}

/// The columns of a projection [.., H·d] without the first of each head, which are rotated.
MatrixD without_rotated(const MatrixD& whole, const LayerSpec& layer) {
  const std::int64_t heads = layer.attention.heads, turned = layer.rotary.width;
  const Eigen::Index each = whole.cols() / heads, rest = each - turned;
  MatrixD kept(whole.rows(), heads * rest);
  for (std::int64_t head = 0; head < heads; ++head) {
    kept.middleCols(head * rest, rest) = whole.middleCols(head * each + turned, rest);
  }
  return kept;
}

Projections projections_of(const Model& model, std::int64_t layer, WeightProduct product) {
  const Block& block = block_with_products(model, layer, product);
  const AttentionPart& part = block.attention;
  Projections found;
  found.heads = block.spec.attention.heads;
  const std::int64_t own = block.spec.key_heads();
  found.one_space = !part.latent;
  if (product == WeightProduct::qk) {
    found.left =
        part.latent ? without_rotated(matrix_of(part.query), block.spec) : matrix_of(part.query);
    found.left_groups = found.heads;
    found.right = matrix_of(part.key ? *part.key : part.query).transpose();
    found.right_groups = part.key ? own : found.heads;
    return found;
  }
  found.left = matrix_of(part.value);
  found.left_groups = own;
  found.right_groups = found.heads;
  if (part.out) {
    found.right = matrix_of(*part.out);
  } else {
    const std::int64_t joined = found.heads * found.width();
    found.right = MatrixD::Identity(joined, joined);
  }
  return found;
}

}  // namespace

std::vector<HeadFactors> head_factors(const Model& model, std::int64_t layer,
                                      WeightProduct product) {
  const Projections both = projections_of(model, layer, product);
  std::vector<HeadFactors> factors;
  for (std::int64_t head = 0; head < both.heads; ++head) {
    factors.push_back({both.left_of(head * both.left_groups / both.heads),
                       both.right_of(head * both.right_groups / both.heads), both.one_space});
  }
  return factors;
}

HeadFactors layer_factors(const Model& model, std::int64_t layer, WeightProduct product) {
  Projections both = projections_of(model, layer, product);
  const std::int64_t groups = std::min(both.left_groups, both.right_groups);
  const std::int64_t width = both.width();
  // Σ_h Q_h K_gᵀ over the heads of a group is (Σ_h Q_h) K_gᵀ.
  if (both.left_groups > groups) {
    MatrixD sums = MatrixD::Zero(both.left.rows(), groups * width);
    for (std::int64_t head = 0; head < both.left_groups; ++head) {
      sums.middleCols(head * groups / both.left_groups * width, width) += both.left_of(head);
    }
    both.left = std::move(sums);
  }
  if (both.right_groups > groups) {
    MatrixD sums = MatrixD::Zero(groups * width, both.right.cols());
    for (std::int64_t head = 0; head < both.right_groups; ++head) {
      sums.middleRows(head * groups / both.right_groups * width, width) += both.right_of(head);
    }
    both.right = std::move(sums);
  }
  return {std::move(both.left), std::move(both.right), both.one_space};
}

std::vector<std::size_t> layer_stages(const Model& model) {
  const std::vector<StageWeights>& stages = transformer_of(model).weights().stages;
  std::vector<std::size_t> of_layers;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    of_layers.insert(of_layers.end(), stages[stage].blocks.size(), stage);
  }
  return of_layers;
}

}  // namespace attnscope
