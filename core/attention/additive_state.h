// The running weighted mean of additive attention, one token after another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnscope {

/// Σ e^s v / Σ e^s over all tokens so far, or the last `window` of them including the newest
/// (Fastformer-LM, Eq. 4 to 8; Eq. 9 to 15). Cost of a token: O(width), whatever the window.
///
/// Nothing is ever subtracted from a sum: a window is the end of one block of `window` tokens,
/// whose sums from each token to the block's end are kept, and the beginning of the next. Logits
/// are taken relative to the largest: ±80 neither overflow nor cancel.
class AdditiveState {
 public:
  /// width: of values, ≥ 0. window ≥ 1, or 0 for all tokens so far.
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
  Sums begun_;                  ///< from the newest block's first token to the newest
  std::vector<double> logits_;  ///< of the newest block, where there is a window
  std::vector<float> values_;   ///< [tokens of the newest block, width]
  std::vector<Sums> endings_;   ///< of the block before: from each token to its end
};

}  // namespace attnscope
