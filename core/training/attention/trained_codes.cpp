#include "core/training/attention/trained_codes.h"

#include <utility>

#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

using RowD = Eigen::RowVectorXd;

MatrixD signs_of(const MatrixD& numbers, bool zero_is_zero) {
  return numbers.unaryExpr([zero_is_zero](double x) {
    return x > 0 || (x == 0 && !zero_is_zero) ? 1.0 : x < 0 ? -1.0 : 0.0;
  });
}

/// x̂ = x / ‖x‖, row by row.
struct UnitTokens {
  MatrixD unit;
  Eigen::VectorXd lengths;

  explicit UnitTokens(const ConstStridedMatrixMap& tokens)
      : unit(unit_rows(tokens)), lengths(tokens.cast<double>().rowwise().norm()) {}

  /// Sets the gradient of the tokens, given that of x̂.
  void backward(const MatrixD& d_unit, StridedMatrixMap d_tokens) const {
    for (Eigen::Index i = 0; i < unit.rows(); ++i) {
      const RowD d_row = d_unit.row(i);
      const double length = lengths[i] > 0 ? lengths[i] : 1;
      d_tokens.row(i) = ((d_row - d_row.dot(unit.row(i)) * unit.row(i)) / length).cast<float>();
    }
  }
};

/// Codes α sign(x̂). HardTanh's derivative is 1 at every x̂, whose channels are at most 1, so the
/// gradient of x̂ is α dh + (dh · sign) sign / d.
struct ScaledSigns {
  UnitTokens tokens;
  MatrixD signs;
  Eigen::VectorXd scales;

  ScaledSigns(const ConstStridedMatrixMap& rows, bool zero_is_zero)
      : tokens(rows),
        signs(signs_of(tokens.unit, zero_is_zero)),
        scales(tokens.unit.cwiseAbs().rowwise().mean()) {}

  [[nodiscard]] MatrixD codes() const { return scales.asDiagonal() * signs; }

  void backward(const MatrixD& d_codes, StridedMatrixMap d_tokens) const {
    MatrixD d_unit(d_codes.rows(), d_codes.cols());
    for (Eigen::Index i = 0; i < d_unit.rows(); ++i) {
      const double along = d_codes.row(i).dot(signs.row(i)) / static_cast<double>(signs.cols());
      d_unit.row(i) = scales[i] * d_codes.row(i) + along * signs.row(i);
    }
    tokens.backward(d_unit, d_tokens);
  }
};

class SignCodes final : public TrainedCodes {
 public:
  SignCodes(const HeadTensors& head, bool zero_is_zero)
      : of_queries_(head.queries, zero_is_zero), of_keys_(head.keys, zero_is_zero) {
    queries_ = of_queries_.codes();
    keys_ = of_keys_.codes();
  }

  void backward(MatrixD d_queries, MatrixD d_keys, HeadGradients& gradients) const override {
    of_queries_.backward(d_queries, gradients.queries);
    of_keys_.backward(d_keys, gradients.keys);
  }

 private:
  ScaledSigns of_queries_, of_keys_;
};

/// One set of tokens under a kernelised hash.
struct HashedTokens {
  UnitTokens tokens;
  MatrixD squares;      ///< ‖x̂ − a‖² [N, m]
  MatrixD projections;  ///< A (κ − μ) [N, b]

  HashedTokens(UnitTokens unit, MatrixD distances, const HashFunction& function)
      : tokens(std::move(unit)),
        squares(std::move(distances)),
        projections(centred_kernel_of(function, squares) * function.weights.transpose()) {}

  /// Returns the gradient of the squares [N, m], given that of the codes, and adds that of σ.
  [[nodiscard]] MatrixD backward(const HashFunction& function, const MatrixD& d_codes,
                                 double& d_bandwidth) const {
    const double twice = 2 * function.bandwidth;
    const MatrixD d_projections = (projections.array().abs() <= 1).select(d_codes, 0.0);
    // The gradient of a square D is −κ dκ / (2σ), that of σ is the sum of κ dκ D / (2σ²).
    const MatrixD passed =
        (d_projections * function.weights).cwiseProduct((squares / -twice).array().exp().matrix());
    d_bandwidth += passed.cwiseProduct(squares).sum() / (twice * function.bandwidth);
    return passed / -twice;
  }

  /// Sets the gradient of the tokens, given that of the squares; for x̂ it is 2 Σ_a dD_a (x̂ − a).
  void finish(const HashFunction& function, const MatrixD& d_squares,
              StridedMatrixMap d_tokens) const {
    const Eigen::VectorXd sums = d_squares.rowwise().sum();
    const MatrixD d_unit = 2 * (sums.asDiagonal() * tokens.unit - d_squares * function.anchors);
    tokens.backward(d_unit, d_tokens);
  }
};

class LearnedCodes final : public TrainedCodes {
 public:
  LearnedCodes(const HeadTensors& head, std::int64_t bits, std::int64_t supports,
               bool zero_is_zero) {
    const auto of_head = [&](std::size_t which, std::int64_t rows, std::int64_t columns) {
      return rows_of(head.own[which] + head.head * rows * columns, rows, columns).cast<double>();
    };
    function_.kind = HashKind::learned;
    function_.weights = of_head(0, bits, supports);
    function_.means = of_head(1, 1, supports).row(0);
    function_.anchors = of_head(2, supports, head.keys.cols());
    UnitTokens unit(head.keys);
    MatrixD squares = squared_distances(unit.unit, function_.anchors);
    mean_ = squares.mean();
    function_.bandwidth = mean_ > 0 ? mean_ : 1;  // same rule as in mean_squared_distance
    of_keys_.emplace(std::move(unit), std::move(squares), function_);
    keys_ = signs_of(of_keys_->projections, zero_is_zero);
    const bool shared =
        head.queries.data() == head.keys.data() && head.queries.rows() == head.keys.rows();
    if (shared) return;
    UnitTokens others(head.queries);
    MatrixD other_squares = squared_distances(others.unit, function_.anchors);
    of_queries_.emplace(std::move(others), std::move(other_squares), function_);
    queries_ = signs_of(of_queries_->projections, zero_is_zero);
  }

  void backward(MatrixD d_queries, MatrixD d_keys, HeadGradients& gradients) const override {
    double d_bandwidth = 0;
    if (of_queries_) {
      const MatrixD d_squares = of_queries_->backward(function_, d_queries, d_bandwidth);
      of_queries_->finish(function_, d_squares, gradients.queries);
    } else {
      d_keys += d_queries;
      gradients.queries.setZero();
    }
    MatrixD d_squares = of_keys_->backward(function_, d_keys, d_bandwidth);
    // σ is the mean of the keys' squares.
    if (mean_ > 0) d_squares.array() += d_bandwidth / static_cast<double>(d_squares.size());
    of_keys_->finish(function_, d_squares, gradients.keys);
  }

 private:
  HashFunction function_;
  double mean_ = 0;
  std::optional<HashedTokens> of_queries_, of_keys_;
};

}  // namespace

std::unique_ptr<const TrainedCodes> sign_codes(const HeadTensors& head, bool zero_is_zero) {
  return std::make_unique<SignCodes>(head, zero_is_zero);
}

std::unique_ptr<const TrainedCodes> learned_codes(const HeadTensors& head, std::int64_t bits,
                                                  std::int64_t supports, bool zero_is_zero) {
  return std::make_unique<LearnedCodes>(head, bits, supports, zero_is_zero);
}

}  // namespace attnscope
