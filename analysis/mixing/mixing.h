// How much of each token goes into each other one in a layer: by norms of what is added instead of
// weights (Kobayashi et al. 2020, 2021; GlobEnc, Modarressi et al. 2022; ALTI, Ferrando et al.
// 2022).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/subject.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Of one layer. f^h(x_j) = γ ⊙ v_j^h W_O^h (v_j with its bias, γ the layer scale if there is one)
/// is what head h makes of token j, and F_i(j) = Σ_h a^h_ij f^h(x_j) + [i = j] x_i what token j
/// gives to token i with the residual. a as the mechanism runs it, with the I of an identity
/// mapping. Where a norm follows the sum (post-LN), F goes through it with its statistics held
/// fast: (F − mean F) / std(y_i) ⊙ weight.
enum class Mixing {
  head_norms,   ///< ‖a_ij f^h(x_j)‖ of one head (Kobayashi et al. 2020)
  norms,        ///< ‖Σ_h a^h_ij f^h(x_j)‖ (the same paper, Sec. 5)
  block_norms,  ///< ‖F_i(j)‖: with residual and norm (Kobayashi et al. 2021)
  globenc,      ///< the same, and through the norm after the MLP if there is one
  alti          ///< max(0, ‖y_i‖₁ − ‖y_i − F_i(j)‖₁), y_i = Σ_j F_i(j) + bias
};
inline constexpr EnumName<Mixing> mixing_names[] = {{Mixing::head_norms, "head-norms"},
                                                    {Mixing::norms, "norms"},
                                                    {Mixing::block_norms, "block-norms"},
                                                    {Mixing::globenc, "globenc"},
                                                    {Mixing::alti, "alti"}};

/// What is computed, as a formula.
[[nodiscard]] std::string_view formula_of(Mixing mixing);

/// Adds to `request` what mixing needs of a run: maps, vectors and tokens.
void request_for_mixing(TraceRequest& request);

/// The matrix [N, N] of one layer, rows are the tokens that are given to; `head` for head_norms
/// alone. Rows are not normalised. Throws Error(usage) for a trace without model, without what
/// request_for_mixing asks for, and for layers that are no softmax-like sum followed by one linear
/// map: adder arithmetic, Fastformer, norms between heads and W_O or of the branch, other tokens as
/// keys.
[[nodiscard]] MatrixD mixing_of(const Subject& subject, std::int64_t layer, Mixing mixing,
                                std::int64_t head = 0);

/// r_i = ‖Σ_{j≠i} F_i(j)‖ / (‖Σ_{j≠i} F_i(j)‖ + ‖F_i(i)‖) of each token (Kobayashi et al. 2021,
/// Eq. 11): how much of it comes from others.
[[nodiscard]] std::vector<double> mixing_ratios(const Subject& subject, std::int64_t layer);

/// Rollout of the layers' mixing matrices with rows divided by their sums, without another I: R_l =
/// M_l R_{l−1}. `layers`: from the first, all if 0. [N, N]. Of globenc and alti, which the papers
/// roll out, and of block_norms. Throws as mixing_of; Cancelled.
[[nodiscard]] Tensor mixing_rollout(const Subject& subject, Mixing mixing, std::int64_t layers = 0,
                                    const Progress& progress = {});

}  // namespace attnscope
