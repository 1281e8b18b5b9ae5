// Solves the scale, cap and biases of scores, given queries, keys and the maps that a reference has
// of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/architecture/spec/layer_spec.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Queries and keys of one input's first layer, [H, N, d] and [Hk, N, d], as they are multiplied.
struct ScoredVectors {
  Tensor queries, keys;
};

/// How scores become the reference's: s·q·k, bounded by a cap, less ALiBi's slopes.
struct ScoreForm {
  double scale = 1;
  double soft_cap = 0;  ///< 0: none
  bool alibi = false;
  double error = 1;  ///< root mean square of what is left of the logarithms, over theirs
};

/// Rows of the reference's maps, their logarithms centred: softmax leaves scores but for a constant
/// of each row.
class ScoreFit {
 public:
  /// `maps`: [H, N, N] of each input. Takes at most a few hundred rows, evenly.
  explicit ScoreFit(const std::vector<Tensor>& maps);

  /// The forms that were tried, the nearest first: without cap and biases, with ALiBi's slopes if
  /// `may_add`, with a cap if `may_cap`. `usual`: scales that are tried with a cap.
  [[nodiscard]] std::vector<ScoreForm> forms(const std::vector<ScoredVectors>& vectors,
                                             const std::vector<double>& usual, bool may_add,
                                             bool may_cap) const;

 private:
  struct Row {
    std::size_t input;
    std::int64_t head, query;
    std::vector<std::int64_t> keys;
    Eigen::VectorXd logarithms;  // centred
  };
  /// q·k of a row's keys, not centred.
  [[nodiscard]] std::vector<Eigen::VectorXd> products(
      const std::vector<ScoredVectors>& vectors) const;
  [[nodiscard]] ScoreForm solved(const std::vector<Eigen::VectorXd>& products, bool alibi) const;
  [[nodiscard]] double error_of(const std::vector<Eigen::VectorXd>& products, double scale,
                                double cap) const;

  std::vector<Row> rows_;
  std::int64_t heads_ = 1;
};

}  // namespace attnscope
