// What is analysed of a run: which matrix, and what belongs to it, in names and words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/parameters/enum_names.h"

namespace attnscope {

/// A is the map [N, M] of a head; q, k, v its queries [N, d], keys [M, d] and values [M, d_v], as
/// they were recorded: after norms and rotary positions.
enum class SpectrumOf {
  map,      ///< A
  scores,   ///< what the softmax is taken of, without bias, mask and cap: q kᵀ/√d; rank ≤ d
  log_map,  ///< ln A, of maps without zeros; rank ≤ d + 1 where A is a softmax of q kᵀ alone
  seen_by_values,  ///< A P, P the projection onto the columns of v: A v = A P v; rank ≤ rank v
  value_weighted,  ///< a_ij ‖v_j‖
  norm_weighted,   ///< a_ij ‖γ ⊙ v_j W_O‖ (Kobayashi et al. 2020); needs the model
  head_output,     ///< A v; rank ≤ d_v
  output,          ///< A v of all heads beside each other, before W_O; rank ≤ H d_v
  values,          ///< v
  tokens,          ///< the tokens [N, D] after the layer
  token_updates    ///< what the layer adds to them, X_l − X_{l−1}
};
inline constexpr EnumName<SpectrumOf> spectrum_of_names[] = {
    {SpectrumOf::map, "map"},
    {SpectrumOf::scores, "scores"},
    {SpectrumOf::log_map, "log-map"},
    {SpectrumOf::seen_by_values, "seen-by-values"},
    {SpectrumOf::value_weighted, "value-weighted"},
    {SpectrumOf::norm_weighted, "norm-weighted"},
    {SpectrumOf::head_output, "head-output"},
    {SpectrumOf::output, "output"},
    {SpectrumOf::values, "values"},
    {SpectrumOf::tokens, "tokens"},
    {SpectrumOf::token_updates, "token-updates"}};

/// What else a layer adds, besides the I of an identity mapping.
enum class Added {
  none,      ///< nothing: what is analysed as it is
  residual,  ///< of outputs: x + γ ⊙ A v W_O, x the tokens [N, D] that the layer is given
  /// Of a mechanism whose map W_ij = g_i e^{K_j + w_ij} / Σ is a convolution beside what all
  /// queries see (DAFT-conv, Algorithm 2): without its Toeplitz map T_ij = W_ij (1 − e^{−w_ij}).
  without_convolution,
  convolution  ///< of the same: T alone, which is 0 outside the window
};
inline constexpr EnumName<Added> added_names[] = {
    {Added::none, "none"},
    {Added::residual, "residual"},
    {Added::without_convolution, "without-convolution"},
    {Added::convolution, "convolution"}};

/// What a row or a column of it is.
enum class Extent { queries, keys, tokens, channels };
inline constexpr EnumName<Extent> extent_names[] = {{Extent::queries, "queries"},
                                                    {Extent::keys, "keys"},
                                                    {Extent::tokens, "tokens"},
                                                    {Extent::channels, "channels"}};

struct Analysed {
  SpectrumOf of = SpectrumOf::map;
  /// Less its mean row: X − 1x̄ᵀ. What all queries do alike, sinks too, is then gone.
  bool centred = false;
  /// What else the layer adds: residual goes with head_output and output, the others with map.
  Added added = Added::none;

  bool operator==(const Analysed&) const = default;
};

/// Throws Error(usage) listing the names.
[[nodiscard]] SpectrumOf spectrum_of_named(std::string_view name);

/// "with the residual stream", …; empty of none.
[[nodiscard]] std::string in_words(Added added);

/// "attention maps", "scores q kᵀ/√d, before bias and mask, without the mean row", …
[[nodiscard]] std::string in_words(const Analysed& analysed);

/// "map", "scores", "map, centred", "output, residual, centred": in names and headings.
[[nodiscard]] std::string short_words(const Analysed& analysed);

/// What its rows are: of values keys, of tokens and what is added to them tokens, else queries.
[[nodiscard]] Extent rows_of(SpectrumOf of);
/// What its columns are: keys of what is made of the map alone, else channels.
[[nodiscard]] Extent columns_of(SpectrumOf of);
/// Whether a row is a query's weights over the keys, none meant to be below 0: then it is a
/// distribution.
[[nodiscard]] bool has_rows_of_weights(const Analysed& analysed);

/// Whether an I may be part of it: of what is made of the map itself.
[[nodiscard]] bool takes_identity(SpectrumOf of);
/// Whether that addition has a meaning there: the residual stream of outputs, a convolution of
/// maps.
[[nodiscard]] bool goes_with(Added added, SpectrumOf of);
/// Whether there is one of a layer, not one of each head: its `head` is kAllHeads.
[[nodiscard]] bool is_of_layer(SpectrumOf of);
inline constexpr std::int64_t kAllHeads = -1;

}  // namespace attnscope
