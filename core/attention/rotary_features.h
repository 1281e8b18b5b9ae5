// Features of linear attention with rotary positions (RALA, MLLA): pairs of their channels turn by
// angles that grow with the row and the column of a token.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/attention/token_layout.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// φ(x) = 1 + elu(x) of every number.
[[nodiscard]] MatrixD elu_features(const auto& rows) {
  return rows.template cast<double>().unaryExpr(
      [](double x) { return x < 0 ? std::exp(x) : 1 + x; });
}

/// RALA's factors κ [M] of a head's keys, whose mean is 1: M softmax_j(q̄·k_j / √d) with features
/// k_j [M, d] and the mean q̄ of the features of the queries [N, d].
[[nodiscard]] Eigen::ArrayXd rala_key_weights(const Eigen::Ref<const MatrixD>& queries,
                                              const Eigen::Ref<const MatrixD>& keys);

/// In each of `groups` equal groups of columns, as many pairs as there are frequencies turn by
/// those times the token's row, and as many by those times its column. Prefix tokens do not turn. A
/// sequence is a grid of one row.
class TokenTurns {
 public:
  /// `layout` may be null.
  TokenTurns(const TokenLayout* layout, std::int64_t tokens, std::int64_t groups,
             std::vector<double> frequencies);

  /// Turns the channels of token `token`; with direction −1 it turns them back.
  void turn(std::int64_t token, MatrixD& rows, double direction = 1) const;

 private:
  std::int64_t prefix_ = 0, columns_, groups_;
  std::vector<double> frequencies_;
};

/// RALA's, in each of `heads` heads of width d: 10000^−(p/(P − 1)), P = ⌊d/4⌋.
[[nodiscard]] TokenTurns rala_turns(const TokenLayout* layout, std::int64_t tokens,
                                    std::int64_t heads, std::int64_t d);

/// MLLA's, over all C channels: 10000^−(p/P), P = ⌊C/4⌋.
[[nodiscard]] TokenTurns mlla_turns(const TokenLayout* layout, std::int64_t tokens,
                                    std::int64_t channels);

}  // namespace attnscope
