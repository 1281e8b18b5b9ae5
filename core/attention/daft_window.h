// DAFT with position biases in a window around each token: DAFT-conv and its variants (DAFT, Eq. 7
// to 9, Algorithm 2, appendix C).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/attention/costs/costs.h"
#include "core/attention/daft.h"

namespace attnscope {

/// What becomes of a window's biases, and of what lies outside it.
enum class DaftWindowKind {
  conv,    ///< w is r inside the window and 0 outside
  local,   ///< w is −∞ outside: the ablation without global connectivity (section 5.1)
  one_hot  ///< of each head's r only its largest is kept (appendix C, Gumbel softmax's hard max)
};

struct DaftWindowOptions {
  DaftWindowKind kind = DaftWindowKind::conv;
  std::int64_t kernel = 11;      ///< extent of the window, odd
  std::int64_t conv_heads = 16;  ///< h
  /// The window's: 1 (a sequence) or 2 (a grid); absent: 2 where tokens lie on a grid, else 1.
  std::optional<std::int64_t> dimensions = std::nullopt;
};

/// All that the entries of the list share: what is left to each is its name, title and source, what
/// it costs, and `make`.
///
/// Layer parameters: "r" [h, k] or [h, k, k]; with "gamma" and "beta" [h] it becomes γ (r − mean) /
/// std + β (Eq. 9; std of the population; 0 / 0 is 0), else it is taken as it is. Without "r", as
/// over other models, w is 0 inside the window: what γ = β = 0 begin with. Windows of two
/// dimensions need tokens on a grid. Prefix tokens lie at no place: every token sees them, and they
/// see every token, with bias 0. Causal layers are sequences: windows of one dimension, of whose
/// taps the later half is unused.
[[nodiscard]] MechanismEntry daft_window_entry();

/// Throws Error(usage) for an even kernel, naming it as that of the mechanism `name`.
[[nodiscard]] std::unique_ptr<Mechanism> make_daft_window(std::string_view name,
                                                          DaftWindowKind kind,
                                                          const TypedValues& values);

/// The parameter "dimensions", absent where it is "auto".
[[nodiscard]] std::optional<std::int64_t> daft_dimensions(const TypedValues& values);

/// The settings that the window counts by; "auto" dimensions are the two of a grid.
[[nodiscard]] costs::DaftConvOptions daft_cost_options(const TypedValues& values);

/// The window biases of one layer, over where its tokens lie.
class DaftWindow final : public DaftBias {
 public:
  /// Throws Error(usage): no grid, r of another shape.
  DaftWindow(const AttentionInput& input, const DaftWindowOptions& options);

  [[nodiscard]] std::int64_t heads() const override { return taps_.rows(); }
  void fill(std::int64_t head, std::int64_t first_query, StridedMatrixMap block) const override;

  /// r of each head, [h, taps], row-major over the window.
  [[nodiscard]] const Matrix& taps() const { return taps_; }
  [[nodiscard]] bool local() const { return local_; }
  [[nodiscard]] std::int64_t prefix() const { return prefix_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] std::int64_t half_rows() const { return half_rows_; }
  [[nodiscard]] std::int64_t half_columns() const { return half_columns_; }

 private:
  Matrix taps_;
  bool local_, causal_;
  std::int64_t prefix_ = 0, rows_ = 1, columns_ = 0;
  std::int64_t half_rows_ = 0, half_columns_ = 0;  ///< s
};

}  // namespace attnscope
