#include "core/model/transformer/inner_parts.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace attnscope {

const Transformer& transformer_of(const Model& model) {
  const auto* const found = dynamic_cast<const Transformer*>(&model);
  if (found) return *found;
  throw Error(ErrorKind::usage, "the model does not give access to its weights")
      .in_file(model.file());
}

const Block& block_of(const Transformer& model, std::int64_t layer) {
  std::int64_t first = 0;
  for (const StageWeights& stage : model.weights().stages) {
    const std::int64_t count = std::ssize(stage.blocks);
    if (layer >= first && layer < first + count) {
      return stage.blocks[static_cast<std::size_t>(layer - first)];
    }
    first += count;
  }
  throw Error(ErrorKind::usage, "the model has no such layer")
      .in_file(model.file())
      .expected("0 to " + std::to_string(first - 1))
      .found(std::to_string(layer));
}

void require_products(const Transformer& model, std::int64_t layer) {
  const ModelSpec& spec = model.spec();
  const auto& products = spec.multiplicative_layers;
  if (spec.arithmetic == Arithmetic::multiplicative ||
      std::find(products.begin(), products.end(), layer) != products.end()) {
    return;
  }
  throw Error(ErrorKind::usage, "the layer's projections are not matrix products")
      .in_file(model.file())
      .about("layer " + std::to_string(layer))
      .expected("y = x W + b")
      .found("adder arithmetic, −Σ|x − W|");
}

Eigen::RowVectorXd bias_of(const Linear& linear) {
  const Tensor nothing({1, linear.inputs()});
  const Tensor bias = linear(nothing.matrix());
  return bias.matrix().row(0).cast<double>();
}

MatrixD matrix_of(const Linear& linear) {
  Tensor one({linear.inputs(), linear.inputs()});
  one.matrix().setIdentity();
  const Tensor rows = linear(std::as_const(one).matrix());
  MatrixD matrix = rows.matrix().cast<double>();
  if (linear.has_bias()) matrix.rowwise() -= bias_of(linear);
  return matrix;
}

}  // namespace attnscope
