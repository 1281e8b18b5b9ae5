// The thin factors of W_QK and W_OV of a layer's heads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/parameters/enum_names.h"
#include "core/tensor/tensor.h"

namespace attnscope {

enum class WeightProduct {
  qk,  ///< W_QK = W_Q W_Kᵀ [D, D]: x_i W_QK x_jᵀ is the score, without biases and rotations
  ov   ///< W_OV = W_V W_O [D, D]: contribution of an attended token
};
inline constexpr EnumName<WeightProduct> weight_product_names[] = {{WeightProduct::qk, "qk"},
                                                                   {WeightProduct::ov, "ov"}};

/// A product left · right that is never multiplied out.
struct HeadFactors {
  MatrixD left;   ///< [D, d]: W_Q or W_V
  MatrixD right;  ///< [d, D']: W_Kᵀ or W_O
  /// False if rows and columns of the product are vectors of different kinds, such as latents and
  /// tokens, whatever their widths.
  bool one_space = true;
};

/// The factors of every head of a layer; heads that share keys or values have the same ones. Norm
/// weights are not folded in; with rotary positions W_QK is that of equal positions. With latents
/// (DeepSeek) W_QK is W_UQ W_UKᵀ [r′, r], between the latents of queries (or the tokens) and of
/// keys, without the rotated channels, and W_OV is W_UV W_O [r, D]. Throws Error(usage) for adder
/// arithmetic, Fastformer, and W_QK of attention that does not score by q·k.
[[nodiscard]] std::vector<HeadFactors> head_factors(const Model& model, std::int64_t layer,
                                                    WeightProduct product);

/// The factors [D, Hk·d] and [Hk·d, D'] of the sum of that product over all heads of a layer. Heads
/// that share keys or values are summed first. Throws like head_factors.
[[nodiscard]] HeadFactors layer_factors(const Model& model, std::int64_t layer,
                                        WeightProduct product);

/// The number of the stage of each layer. The heads of a stage read and write the same residual
/// stream: those of one grid, of an encoder, or of a decoder.
[[nodiscard]] std::vector<std::size_t> layer_stages(const Model& model);

}  // namespace attnscope
