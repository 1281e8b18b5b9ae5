// The choice of an analysed matrix: kind, added terms and view of I, with names and descriptions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/parameters/enum_names.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Analysed matrix of a head with map A [N, M], queries q [N, d], keys k [M, d] and values
/// v [M, d_v], as recorded: after norms and rotary positions. Query heads that share keys and
/// values (grouped queries) each have those that they use.
enum class MatrixKind {
  map,     ///< A
  scores,  ///< softmax input without bias, mask and cap: q kᵀ/√d; rank ≤ d
  /// ln A, of maps without zeros; rank ≤ d + 1 if A is a softmax of q kᵀ without other terms.
  log_map,
  seen_by_values,  ///< A P, P the projection onto the columns of v: A v = A P v; rank ≤ rank v
  value_weighted,  ///< a_ij ‖v_j‖
  norm_weighted,   ///< a_ij ‖γ ⊙ v_j W_O‖ (Kobayashi et al. 2020); needs the model
  head_output,     ///< A v; rank ≤ d_v
  output,          ///< outputs A v of all heads, concatenated, before W_O; rank ≤ H d_v
  values,          ///< v
  queries,         ///< q
  keys,            ///< k
  /// q and k before rotary positions, after norms; need the model.
  queries_before_rotary,
  keys_before_rotary,
  tokens,        ///< the tokens [N, D] after the layer
  token_updates  ///< difference of the tokens after and before the layer, X_l − X_{l−1}
};
inline constexpr EnumName<MatrixKind> matrix_kind_names[] = {
    {MatrixKind::map, "map"},
    {MatrixKind::scores, "scores"},
    {MatrixKind::log_map, "log-map"},
    {MatrixKind::seen_by_values, "seen-by-values"},
    {MatrixKind::value_weighted, "value-weighted"},
    {MatrixKind::norm_weighted, "norm-weighted"},
    {MatrixKind::head_output, "head-output"},
    {MatrixKind::output, "output"},
    {MatrixKind::values, "values"},
    {MatrixKind::queries, "queries"},
    {MatrixKind::keys, "keys"},
    {MatrixKind::queries_before_rotary, "queries-before-rotary"},
    {MatrixKind::keys_before_rotary, "keys-before-rotary"},
    {MatrixKind::tokens, "tokens"},
    {MatrixKind::token_updates, "token-updates"}};

/// Term that a layer adds, besides the I of an identity mapping.
enum class Added {
  none,      ///< no term: the matrix is analysed as it is
  residual,  ///< outputs plus residual stream: x + γ ⊙ A v W_O, x the layer's input tokens [N, D]
  /// Map without its Toeplitz part T_ij = W_ij (1 − e^{−w_ij}), for mechanisms whose map
  /// W_ij = g_i e^{K_j + w_ij} / Σ adds a convolution to global attention (DAFT-conv, Algorithm 2).
  without_convolution,
  convolution  ///< the Toeplitz part T by itself, which is 0 outside the window
};
inline constexpr EnumName<Added> added_names[] = {
    {Added::none, "none"},
    {Added::residual, "residual"},
    {Added::without_convolution, "without-convolution"},
    {Added::convolution, "convolution"}};

/// Meaning of the rows or columns of an analysed matrix.
enum class Extent { queries, keys, tokens, channels };
inline constexpr EnumName<Extent> extent_names[] = {{Extent::queries, "queries"},
                                                    {Extent::keys, "keys"},
                                                    {Extent::tokens, "tokens"},
                                                    {Extent::channels, "channels"}};

/// The analysed matrix of each head or layer: its kind, what is subtracted from it or added, and
/// whether its map is seen with I.
struct MatrixChoice {
  MatrixKind of = MatrixKind::map;
  /// Subtracts the mean row, X − 1x̄ᵀ, which all queries share; attention sinks vanish with it.
  bool centred = false;
  /// Term that the layer adds: residual requires head_output or output, the others require map.
  Added added = Added::none;
  /// View of the maps in it; as_is or without for matrices that take no I (takes_identity).
  IdentityView identity = IdentityView::as_is;

  bool operator==(const MatrixChoice&) const = default;
  /// The same matrix in another view.
  [[nodiscard]] MatrixChoice seen(IdentityView view) const { return {of, centred, added, view}; }
  /// True for attention maps themselves in any view, with or without their mean row.
  [[nodiscard]] bool is_map() const { return of == MatrixKind::map && added == Added::none; }
  /// True for attention maps in any view from which nothing else is subtracted.
  [[nodiscard]] bool is_plain_map() const { return is_map() && !centred; }
};

/// Finds a matrix by name. Throws Error(usage) listing the names.
[[nodiscard]] MatrixKind matrix_kind_named(std::string_view name);

/// Description of the term, "with the residual stream", …; empty for Added::none.
[[nodiscard]] std::string in_words(Added added);

/// Description without the view: "attention maps", "scores q kᵀ/√d, before bias and mask, without
/// the mean row", …
[[nodiscard]] std::string in_words(const MatrixChoice& analysed);

/// Short form for names and headings: "map", "scores", "map, centred", "output, residual, centred".
[[nodiscard]] std::string short_words(const MatrixChoice& analysed);

/// Meaning of the rows: keys for keys and values, tokens for tokens and their updates, else
/// queries.
[[nodiscard]] Extent rows_of(MatrixKind of);
/// Meaning of the columns: channels for outputs, queries, keys, values and tokens, else keys.
[[nodiscard]] Extent columns_of(MatrixKind of);
/// True if each row holds a query's weights over the keys, nominally ≥ 0: a distribution.
[[nodiscard]] bool has_rows_of_weights(const MatrixChoice& analysed);

/// True if I may be included: the matrix is derived from the map itself.
[[nodiscard]] bool takes_identity(MatrixKind of);
/// True if the matrices of square maps of `trace` contain I in the view of `analysed`.
[[nodiscard]] bool shows_identity(const Trace& trace, const MatrixChoice& analysed);
/// True if `added` is defined for `of`: the residual stream for outputs, a convolution for maps.
[[nodiscard]] bool goes_with(Added added, MatrixKind of);
/// True if there is one matrix per layer instead of one per head; its `head` is kAllHeads.
[[nodiscard]] bool is_of_layer(MatrixKind of);
inline constexpr std::int64_t kAllHeads = -1;

}  // namespace attnscope
