// What analyses of a model's inside read of its weights.
#pragma once

#include <cstdint>

#include "core/model/transformer/transformer.h"

namespace attnscope {

/// The model as the runner has it. Throws Error(usage) for one that is only made of others.
[[nodiscard]] const Transformer& transformer_of(const Model& model);

/// The block of a layer. Throws Error(usage) for a layer there is none of.
[[nodiscard]] const Block& block_of(const Transformer& model, std::int64_t layer);

/// Throws Error(usage) unless that layer's projections are products with matrices: not of adder
/// arithmetic.
void require_products(const Transformer& model, std::int64_t layer);

/// W [in, out] of y = x W + b, of a layer that is such a product.
[[nodiscard]] MatrixD matrix_of(const Linear& linear);
/// b [out]; zeros where there is none.
[[nodiscard]] Eigen::RowVectorXd bias_of(const Linear& linear);

}  // namespace attnscope
