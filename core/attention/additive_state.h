// Running weighted mean of additive attention, updated token by token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnscope {

/// Σ e^s v / Σ e^s over all tokens so far, or the last `window` of them including the newest
/// (Fastformer-LM, Eq. 4 to 8; Eq. 9 to 15). Each token costs O(width) for any window.
///
/// Tokens are split into blocks of `window`; a window is the end of one block plus the beginning of
/// the next. The sums from each token to the end of its block are kept, so nothing is ever
/// subtracted. Logits are taken relative to the largest one, so ±80 neither overflow nor cancel.
class AdditiveState {
 public:
  /// `width`: width of the values, ≥ 0. `window`: ≥ 1, or 0 for all tokens so far.
  AdditiveState(std::int64_t width, std::int64_t window);

  /// Takes the next token's logit and value [width]; writes the mean after it to `mean` [width].
  /// Returns ln Σ e^s.
  double push(double logit, std::span<const float> value, std::span<float> mean);

 private:
  /// Σ e^(s − greatest) and Σ e^(s − greatest) v.
  struct Sums {
    double greatest;
    double weight;
    std::vector<double> values;
  };

  [[nodiscard]] Sums nothing() const;
  static void add(Sums& sums, double logit, std::span<const float> value);
  void finish_block();

  std::int64_t width_;
  std::int64_t window_;
  Sums begun_;                  ///< sums from the newest block's first token to the newest
  std::vector<double> logits_;  ///< logits of the newest block; unused without a window
  std::vector<float> values_;   ///< [tokens of the newest block, width]
  std::vector<Sums> endings_;   ///< previous block: sums from each token to its end
};

}  // namespace attnscope
