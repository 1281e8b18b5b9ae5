// Access to a model's weights for analyses of its inner parts.
#pragma once

#include <cstdint>

#include "core/model/transformer/transformer.h"

namespace attnscope {

/// The transformer behind `model`. Throws Error(usage) if the model is composed of others.
[[nodiscard]] const Transformer& transformer_of(const Model& model);

/// The block of a layer. Throws Error(usage) if there is no such layer.
[[nodiscard]] const Block& block_of(const Transformer& model, std::int64_t layer);

/// Throws Error(usage) unless the layer's projections are matrix products, not adder arithmetic.
void require_products(const Transformer& model, std::int64_t layer);

/// W [in, out] of y = x W + b, for a layer that is a matrix product.
[[nodiscard]] MatrixD matrix_of(const Linear& linear);
/// b [out]; zeros if the layer has no bias.
[[nodiscard]] Eigen::RowVectorXd bias_of(const Linear& linear);

}  // namespace attnscope
