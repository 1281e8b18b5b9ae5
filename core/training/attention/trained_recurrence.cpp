// Attention by a state that decays from token to token, with its gradient: gated linear attention
// (Yang et al. 2023), Mamba-2 (Dao and Gu 2024) and the delta rules, gated-delta (Yang et al. 2024)
// and kda (Kimi Team 2025), whose tokens all have the decay α and the strength β that the settings
// give. In a chunk of tokens with the state S before it (core/attention/recurrence.cpp), e_i = α^i
// for its i-th token from 1 on, f_i = α^(n−i), D_ij = α^(i−j) for j ≤ i and R = β D ⊙ (K Kᵀ), j <
// i:
//
//   (I + R) U = β (V − (e K) S), without the delta rule U = β V
//   O = (e Q) S + P U with P = D ⊙ (Q Kᵀ), and S ← α^n S + (f K)ᵀ U.
//
// The gradient runs over the chunks from the last to the first, with the states before them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/parameters/typed_values.h"
#include "core/training/attention/trained_heads.h"

namespace attnscope {

namespace {

constexpr Eigen::Index kTrainedChunk = 64;

/// The constants of a head.
struct StateGates {
  double log_decay;  ///< ln α
  double strength;   ///< β
};

/// Rows over √(‖x‖² + 10⁻⁶), and the gradient of the rows given that of the quotients.
struct RowsOfLengthOne {
  explicit RowsOfLengthOne(const MatrixD& rows)
      : lengths((rows.rowwise().squaredNorm().array() + 1e-6).sqrt()),
        shares(rows.array().colwise() / lengths) {}

  [[nodiscard]] MatrixD backward(const MatrixD& d_shares) const {
    const Eigen::ArrayXd along = shares.cwiseProduct(d_shares).rowwise().sum();
    return ((d_shares.array() - shares.array().colwise() * along).colwise() / lengths).matrix();
  }

  Eigen::ArrayXd lengths;
  MatrixD shares;
};

class TrainedRecurrence final : public TrainedHeads {
 public:
  using GatesOfHead = std::function<StateGates(std::int64_t head)>;

  /// `delta`: the delta rule, with queries and keys of length 1.
  TrainedRecurrence(bool delta, GatesOfHead gates) : delta_(delta), gates_(std::move(gates)) {}

 private:
  /// Scaled queries, keys and values of a head, or the gradients of them.
  struct Rows {
    MatrixD queries, keys, values;
  };

  /// The tokens [first, first + count) with what they compute from the state before them.
  struct Chunk {
    Eigen::Index first = 0, count = 0;
    MatrixD queries = {}, keys = {};
    Eigen::ArrayXd from_start = {}, to_end = {};  ///< e and f
    MatrixD decays = {};                          ///< D
    MatrixD products = {};                        ///< P
    MatrixD taken = {};                           ///< I + R; empty without the delta rule
    MatrixD written = {};                         ///< U
  };

  [[nodiscard]] static double scale(const HeadTensors& head) {
    return 1 / std::sqrt(static_cast<double>(head.keys.cols()));
  }

  [[nodiscard]] Rows rows_of_head(const HeadTensors& head) const {
    Rows all{head.queries.cast<double>(), head.keys.cast<double>(), head.values.cast<double>()};
    if (delta_) {
      all.queries = RowsOfLengthOne(all.queries).shares;
      all.keys = RowsOfLengthOne(all.keys).shares;
    }
    all.queries *= scale(head);
    return all;
  }

  [[nodiscard]] Chunk chunk_of(const Rows& all, Eigen::Index first, const MatrixD& state,
                               const StateGates& gates) const {
    const Eigen::Index n = std::min(kTrainedChunk, all.keys.rows() - first);
    Chunk made{.first = first, .count = n};
    made.queries = all.queries.middleRows(first, n);
    made.keys = all.keys.middleRows(first, n);
    const Eigen::ArrayXd places = Eigen::ArrayXd::LinSpaced(n, 1, static_cast<double>(n));
    made.from_start = (gates.log_decay * places).exp();
    made.to_end = (gates.log_decay * (static_cast<double>(n) - places)).exp();
    made.decays = MatrixD::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      made.decays.row(i).head(i + 1) = made.to_end.tail(i + 1).matrix().transpose();
    }
    made.products = made.decays.cwiseProduct(made.queries * made.keys.transpose());
    made.written = gates.strength * all.values.middleRows(first, n);
    if (delta_) {
      made.taken = gates.strength * made.decays.cwiseProduct(made.keys * made.keys.transpose());
      made.written -= gates.strength * (times(made.from_start, made.keys) * state);
      made.taken.triangularView<Eigen::UnitLower>().solveInPlace(made.written);
    }
    return made;
  }

  static MatrixD times(const Eigen::ArrayXd& factors, const MatrixD& rows) {
    return factors.matrix().asDiagonal() * rows;
  }

  static MatrixD next_state(const Chunk& chunk, const MatrixD& state) {
    return chunk.from_start(chunk.count - 1) * state +
           times(chunk.to_end, chunk.keys).transpose() * chunk.written;
  }

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom&) const override {
    const Rows all = rows_of_head(head);
    MatrixD state = MatrixD::Zero(all.keys.cols(), all.values.cols());
    for (Eigen::Index first = 0; first < all.keys.rows(); first += kTrainedChunk) {
      const Chunk chunk = chunk_of(all, first, state, gates_(head.head));
      output.middleRows(first, chunk.count) =
          (times(chunk.from_start, chunk.queries) * state + chunk.products * chunk.written)
              .cast<float>();
      state = next_state(chunk, state);
    }
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom&) const override {
    const Rows all = rows_of_head(head);
    const StateGates constants = gates_(head.head);
    std::vector<MatrixD> states{MatrixD::Zero(all.keys.cols(), all.values.cols())};
    std::vector<Chunk> chunks;
    for (Eigen::Index first = 0; first < all.keys.rows(); first += kTrainedChunk) {
      chunks.push_back(chunk_of(all, first, states.back(), constants));
      states.push_back(next_state(chunks.back(), states.back()));
    }
    Rows d_all{MatrixD(all.queries.rows(), all.queries.cols()),
               MatrixD(all.keys.rows(), all.keys.cols()),
               MatrixD(all.values.rows(), all.values.cols())};
    MatrixD d_state = MatrixD::Zero(all.keys.cols(), all.values.cols());
    for (std::size_t i = chunks.size(); i-- > 0;) {
      const Chunk& chunk = chunks[i];
      chunk_backward(chunk, states[i], constants,
                     d_output.middleRows(chunk.first, chunk.count).cast<double>(), d_all, d_state);
    }
    d_all.queries *= scale(head);
    if (delta_) {
      d_all.queries = RowsOfLengthOne(head.queries.cast<double>()).backward(d_all.queries);
      d_all.keys = RowsOfLengthOne(head.keys.cast<double>()).backward(d_all.keys);
    }
    gradients.queries = d_all.queries.cast<float>();
    gradients.keys = d_all.keys.cast<float>();
    gradients.values = d_all.values.cast<float>();
  }

  /// Sets the gradients of a chunk's rows, and replaces the gradient of the state after it by that
  /// of the state before it.
  void chunk_backward(const Chunk& chunk, const MatrixD& state, const StateGates& constants,
                      const MatrixD& passed, Rows& d_all, MatrixD& d_state) const {
    MatrixD d_written =
        chunk.products.transpose() * passed + times(chunk.to_end, chunk.keys * d_state);
    MatrixD d_keys = times(chunk.to_end, chunk.written * d_state.transpose());
    const MatrixD d_products = chunk.decays.cwiseProduct(passed * chunk.written.transpose());
    d_all.queries.middleRows(chunk.first, chunk.count) =
        times(chunk.from_start, passed * state.transpose()) + d_products * chunk.keys;
    d_keys += d_products.transpose() * chunk.queries;
    d_state = chunk.from_start(chunk.count - 1) * d_state +
              times(chunk.from_start, chunk.queries).transpose() * passed;
    if (delta_) {
      // With Y = (I + R) U, dY = (I + R)⁻ᵀ dU and dR = −dY Uᵀ below the diagonal.
      chunk.taken.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(d_written);
      MatrixD d_taken =
          -constants.strength * chunk.decays.cwiseProduct(d_written * chunk.written.transpose());
      d_taken.diagonal().setZero();
      d_keys += d_taken * chunk.keys + d_taken.transpose() * chunk.keys;
      d_keys -= constants.strength * times(chunk.from_start, d_written * state.transpose());
      d_state -= constants.strength * (times(chunk.from_start, chunk.keys).transpose() * d_written);
    }
    d_all.keys.middleRows(chunk.first, chunk.count) = d_keys;
    d_all.values.middleRows(chunk.first, chunk.count) = constants.strength * d_written;
  }

  bool delta_;
  GatesOfHead gates_;
};

/// The recurrence whose heads all have the decay e^−rate and this strength.
std::unique_ptr<const TrainedAttention> even_recurrence(bool delta, double rate, double strength) {
  return std::make_unique<TrainedRecurrence>(
      delta, [gates = StateGates{-rate, strength}](std::int64_t) { return gates; });
}

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_gla(const TrainedAttentionForm& form) {
  return even_recurrence(false, TypedValues(form.mechanism.parameters).number("rate"), 1);
}

std::unique_ptr<const TrainedAttention> make_trained_mamba2(const TrainedAttentionForm& form) {
  const double step = TypedValues(form.mechanism.parameters).number("step");  // Δ
  const std::int64_t last = std::max<std::int64_t>(form.shape.heads - 1, 1);
  // ln α = −a Δ with a from 1 to 16 over the heads, and β = Δ.
  return std::make_unique<TrainedRecurrence>(false, [step, last](std::int64_t head) {
    const double factor = 1 + 15 * static_cast<double>(head) / static_cast<double>(last);
    return StateGates{-factor * step, step};
  });
}

std::unique_ptr<const TrainedAttention> make_trained_delta(const TrainedAttentionForm& form) {
  const TypedValues values(form.mechanism.parameters);
  return even_recurrence(true, values.number("rate"), values.number("beta"));
}

}  // namespace attnscope
