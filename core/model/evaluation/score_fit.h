// Solves for the scale, cap and biases of scores from queries, keys and the maps of a reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/architecture/layer_spec.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Queries and keys of one input's first layer as they enter the product, [H, N, d] and [Hk, N, d].
struct ScoredVectors {
  Tensor queries, keys;
};

/// The form of the scores: s·q·k, bounded by a soft cap, minus ALiBi's slopes times the distance.
struct ScoreForm {
  double scale = 1;
  double soft_cap = 0;  ///< 0 if there is no cap
  bool alibi = false;
  double error = 1;  ///< root mean square of the residual of the logarithms, relative to theirs
};

/// Logarithms of rows of the reference's maps, centred per row: softmax preserves scores up to a
/// constant per row.
class ScoreFit {
 public:
  /// `maps` holds [H, N, N] for each input. Uses a few hundred evenly spaced rows.
  explicit ScoreFit(const std::vector<Tensor>& maps);

  /// The forms that were tried, best first: without cap and biases, with ALiBi's slopes if
  /// `may_add`, and with a cap if `may_cap`. `usual` lists the scales that are tried with a cap.
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
  /// The products q·k of a row's keys, not centred.
  [[nodiscard]] std::vector<Eigen::VectorXd> products(
      const std::vector<ScoredVectors>& vectors) const;
  [[nodiscard]] ScoreForm solved(const std::vector<Eigen::VectorXd>& products, bool alibi) const;
  [[nodiscard]] double error_of(const std::vector<Eigen::VectorXd>& products, double scale,
                                double cap) const;

  std::vector<Row> rows_;
  std::int64_t heads_ = 1;
};

}  // namespace attnscope
