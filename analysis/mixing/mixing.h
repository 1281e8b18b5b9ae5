// Mixing of tokens in a layer, measured by norms of the contributions instead of weights (Kobayashi
// et al. 2020, 2021; GlobEnc, Modarressi et al. 2022; ALTI, Ferrando et al. 2022).
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "core/model/subject.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Measure of one layer's mixing. f^h(x_j) = γ ⊙ v_j^h W_O^h (v_j with its bias, γ the layer scale
/// if there is one) is the output of head h for token j. F_i(j) = Σ_h a^h_ij f^h(x_j) + [i = j] α
/// x_i, with α the residual's scale, is the contribution of token j to token i. a is the map as the
/// mechanism runs it, with the I of an identity mapping. A norm after the sum (post-LN) is applied
/// to F with frozen statistics: (F − mean F) / std(y_i) ⊙ weight.
enum class Mixing {
  head_norms,   ///< ‖a_ij f^h(x_j)‖ of one head (Kobayashi et al. 2020)
  norms,        ///< ‖Σ_h a^h_ij f^h(x_j)‖ (Kobayashi et al. 2020, Sec. 5)
  block_norms,  ///< ‖F_i(j)‖ with residual and norm (Kobayashi et al. 2021)
  globenc,      ///< like block_norms, also through the norm after the MLP if any
  alti          ///< max(0, ‖y_i‖₁ − ‖y_i − F_i(j)‖₁), y_i = Σ_j F_i(j) + bias
};
inline constexpr EnumName<Mixing> mixing_names[] = {{Mixing::head_norms, "head-norms"},
                                                    {Mixing::norms, "norms"},
                                                    {Mixing::block_norms, "block-norms"},
                                                    {Mixing::globenc, "globenc"},
                                                    {Mixing::alti, "alti"}};

/// Formula of the measure.
[[nodiscard]] std::string_view formula_of(Mixing mixing);

/// Adds to `request` the tensors that mixing needs: maps, vectors and tokens.
void request_for_mixing(TraceRequest& request);

/// Matrix [N, N] of one layer; rows are the receiving tokens and are not normalised. `head` is used
/// only by head_norms. Throws Error(usage) if the model or a tensor of request_for_mixing is
/// missing, and for layers that are not a weighted sum followed by one linear map: adder
/// arithmetic, Fastformer, norms between heads and W_O or of the branch, keys that differ from the
/// queries' tokens.
[[nodiscard]] MatrixD mixing_of(const Subject& subject, std::int64_t layer, Mixing mixing,
                                std::int64_t head = 0);

/// Share of each token that comes from other tokens: r_i = ‖Σ_{j≠i} F_i(j)‖ / (‖Σ_{j≠i} F_i(j)‖ +
/// ‖F_i(i)‖) (Kobayashi et al. 2021, Eq. 11).
[[nodiscard]] std::vector<double> mixing_ratios(const Subject& subject, std::int64_t layer);

/// Rollout [N, N] of the layers' mixing matrices, R_l = M_l R_{l−1}, with rows divided by their
/// sums and no additional I. `layers`: number of layers from the first, 0 for all. Defined for
/// globenc and alti, as in their papers, and for block_norms. Throws like mixing_of; Cancelled.
[[nodiscard]] Tensor mixing_rollout(const Subject& subject, Mixing mixing, std::int64_t layers = 0,
                                    const Progress& progress = {});

/// Means over the rows of a mixing matrix that have a positive finite sum, each divided by it.
/// Other rows have no shares and do not count.
struct MixingShares {
  double own = std::numeric_limits<double>::quiet_NaN();  ///< row i on token i; NaN without rows
  std::vector<double> keys = {};  ///< share of each key in all rows, sums to 1; empty without rows
};

/// Shares in a matrix [N, N] of mixing_of or value_zeroing, or in a rollout's.
[[nodiscard]] MixingShares mixing_shares(const MatrixD& mixing);

/// Value zeroing (Mohebbi et al. 2023), the change of a layer's tokens without the values of one
/// token: Z_ij = 1 − cos(x̃_i, x̃_i^{v_j = 0}) [N, M], with x̃ the layer's tokens after attention and
/// MLP; rows divided by their sums if `normalised` (rows of zeros stay). Values are zeroed in all
/// heads at once, the layer's input stays. Needs the model and its input's trace with tokens; runs
/// the layer M times. Throws Error(usage) if they are missing, or for layers without
/// self-attention; Cancelled.
[[nodiscard]] MatrixD value_zeroing(const Subject& subject, std::int64_t layer,
                                    bool normalised = true, const Progress& progress = {});

}  // namespace attnscope
