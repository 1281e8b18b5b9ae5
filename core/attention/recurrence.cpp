// Tokens are taken in chunks. With G_i = Σ_{t ≤ i} ln α_t from the beginning of the chunk, and
// S the state before it,
//
//   P_ij = Σ_c q_ic k_jc exp(G_ic − G_jc), j ≤ i      what queries read of tokens of the chunk
//   R_ij = β_i Σ_c k_ic k_jc exp(G_ic − G_jc), j < i  what the delta rule takes back
//   (I + R) U = diag(β) (V − (K ⊙ exp(G)) S)          forward substitution; without the delta rule
//                                                     U = diag(β) V
//   O = (Q ⊙ exp(G)) S + P U
//   S ← diag(exp(G_last)) S + (K ⊙ exp(G_last − G))ᵀ U.
//
// The map is the output for the values V = I, of which a chunk knows the columns up to its end. All
// exponents are differences of at most 0: quotients of products of decays would overflow. For
// decays of every channel, P and R are made of products of matrices by halving: with r the last
// token of the first half, exp(G_i − G_j) = exp(G_i − G_r) exp(G_r − G_j) for i in the second half
// and j in the first.
#include "core/attention/recurrence.h"

#include <algorithm>
#include <memory>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/attention/token_gates.h"

namespace attnscope {

namespace {

constexpr Eigen::Index kChunk = 64;

/// Rows times the exponentials of logarithms [N, d] or [N, 1].
MatrixD times_exponentials(const Eigen::Ref<const MatrixD>& rows, const MatrixD& logarithms) {
  if (logarithms.cols() == 1) {
    return rows.array().colwise() * logarithms.col(0).array().exp();
  }
  return rows.array() * logarithms.array().exp();
}

/// Writes Σ_c a_ic b_jc exp(G_ic − G_jc) for j ≤ i, of tokens [first, first + count), into a matrix
/// whose upper triangle stays.
void halve(const MatrixD& a, const MatrixD& b, const MatrixD& sums, Eigen::Index first,
           Eigen::Index count, MatrixD& out) {
  if (count == 1) {
    out(first, first) = a.row(first).dot(b.row(first));
    return;
  }
  const Eigen::Index half = count / 2, middle = first + half, rest = count - half;
  const MatrixD later = sums.middleRows(middle, rest).rowwise() - sums.row(middle - 1);
  const MatrixD earlier = (-sums.middleRows(first, half)).rowwise() + sums.row(middle - 1);
  out.block(middle, first, rest, half).noalias() =
      times_exponentials(a.middleRows(middle, rest), later) *
      times_exponentials(b.middleRows(first, half), earlier).transpose();
  halve(a, b, sums, first, half, out);
  halve(a, b, sums, middle, rest, out);
}

/// The lower triangle of Σ_c a_ic b_jc exp(G_ic − G_jc), and 0 above it.
MatrixD decayed_products(const MatrixD& a, const MatrixD& b, const MatrixD& sums) {
  MatrixD out;
  if (sums.cols() != 1) {
    out = MatrixD::Zero(a.rows(), a.rows());
    halve(a, b, sums, 0, a.rows(), out);
    return out;
  }
  out = a * b.transpose();
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const auto decays = (sums(i, 0) - sums.col(0).head(i + 1).array()).exp();
    out.row(i).head(i + 1).array() *= decays.transpose();
    out.row(i).tail(out.cols() - i - 1).setZero();
  }
  return out;
}

/// The values of a chunk of tokens, and the columns for which they are not all zero.
struct ChunkValues {
  MatrixD values;          ///< [tokens of the chunk, columns]
  Eigen::Index begin = 0;  ///< the first of the columns
};

/// Runs the recurrence over values of `width` columns. `values_of(first, count)` returns the values
/// of a chunk; columns after its last one are zero in this chunk and in those before.
/// `write(first, rows)` takes the outputs, whose later columns are zero.
template <class ValuesOf, class Write>
void run_recurrence(const Recurrence& of_head, bool delta, Eigen::Index width,
                    const ValuesOf& values_of, const Write& write) {
  const Eigen::Index tokens = of_head.keys.rows();
  MatrixD state = MatrixD::Zero(of_head.keys.cols(), width);
  for (Eigen::Index first = 0; first < tokens; first += kChunk) {
    const Eigen::Index count = std::min(kChunk, tokens - first);
    const MatrixD queries = of_head.queries.middleRows(first, count);
    const MatrixD keys = of_head.keys.middleRows(first, count);
    const Eigen::VectorXd strengths = of_head.strengths.segment(first, count);
    MatrixD sums = of_head.log_decays.middleRows(first, count);
    for (Eigen::Index i = 1; i < count; ++i) sums.row(i) += sums.row(i - 1);
    const MatrixD to_end = (-sums).rowwise() + sums.row(count - 1);

    ChunkValues chunk = values_of(first, count);
    const Eigen::Index end = chunk.begin + chunk.values.cols();
    MatrixD written = strengths.asDiagonal() * chunk.values;  // U
    if (delta) {
      written.noalias() -= (strengths.asDiagonal() * times_exponentials(keys, sums)) *
                           state.middleCols(chunk.begin, chunk.values.cols());
      const MatrixD taken = strengths.asDiagonal() * decayed_products(keys, keys, sums);
      taken.triangularView<Eigen::UnitLower>().solveInPlace(written);
    }
    MatrixD rows(count, end);
    rows.noalias() = times_exponentials(queries, sums) * state.leftCols(end);
    rows.rightCols(written.cols()).noalias() += decayed_products(queries, keys, sums) * written;
    write(first, rows);

    const MatrixD last = sums.row(count - 1).array().exp();
    if (last.cols() == 1) {
      state.leftCols(end) *= last(0, 0);
    } else {
      state.leftCols(end).array().colwise() *= last.row(0).transpose().array();
    }
    state.middleCols(chunk.begin, written.cols()).noalias() +=
        times_exponentials(keys, to_end).transpose() * written;
  }
}

/// The outputs [N, columns of the values] of a head.
MatrixD outputs_of(const Recurrence& of_head, bool delta, const MatrixD& values) {
  MatrixD outputs(values.rows(), values.cols());
  run_recurrence(
      of_head, delta, values.cols(),
      [&](Eigen::Index first, Eigen::Index count) {
        return ChunkValues{values.middleRows(first, count)};
      },
      [&](Eigen::Index first, const MatrixD& rows) {
        outputs.middleRows(first, rows.rows()) = rows;
      });
  return outputs;
}

/// The map [N, N] of a head.
MatrixD map_of(const Recurrence& of_head, bool delta) {
  const Eigen::Index tokens = of_head.keys.rows();
  MatrixD map = MatrixD::Zero(tokens, tokens);
  run_recurrence(
      of_head, delta, tokens,
      [&](Eigen::Index first, Eigen::Index count) {
        // The delta rule also writes what the state returns of earlier tokens.
        const Eigen::Index begin = delta ? 0 : first;
        ChunkValues chunk{MatrixD::Zero(count, first - begin + count), begin};
        chunk.values.rightCols(count).setIdentity();
        return chunk;
      },
      [&](Eigen::Index first, const MatrixD& rows) {
        map.block(first, 0, rows.rows(), rows.cols()) = rows;
      });
  return map;
}

/// The recurrence from the last token to the first.
Recurrence reversed(const Recurrence& of_head) {
  return {.queries = of_head.queries.colwise().reverse(),
          .keys = of_head.keys.colwise().reverse(),
          .log_decays = of_head.log_decays.colwise().reverse(),
          .strengths = of_head.strengths.reverse()};
}

/// The weights of every token for itself, β_i q_i·k_i.
Eigen::VectorXd own_weights(const Recurrence& of_head) {
  return of_head.strengths.array() *
         of_head.queries.cwiseProduct(of_head.keys).rowwise().sum().array();
}

class Recurrent final : public Mechanism {
 public:
  explicit Recurrent(RecurrentProperties properties) : properties_(std::move(properties)) {}

  [[nodiscard]] Tensor forward(const AttentionInput& input) const override {
    const RecurrentHeads heads = heads_of(input);
    const std::int64_t width = input.values.cols() / input.heads;
    Tensor output({input.queries.rows(), input.values.cols()});
    if (output.size() == 0 || input.keys.cols() == 0) return output;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Recurrence of_head = heads(head);
      const MatrixD values = input.values.middleCols(head * width, width).cast<double>();
      MatrixD outputs = outputs_of(of_head, properties_.delta, values);
      if (runs_both_ways(input)) {
        outputs += outputs_of(reversed(of_head), properties_.delta, values.colwise().reverse())
                       .colwise()
                       .reverse();
        outputs -= own_weights(of_head).asDiagonal() * values;
      }
      output.matrix().middleCols(head * width, width) = outputs.cast<float>();
    });
    return output;
  }

  [[nodiscard]] Tensor implied_map(const AttentionInput& input) const override {
    const RecurrentHeads heads = heads_of(input);
    Tensor map({input.heads, input.queries.rows(), input.keys.rows()});
    if (map.size() == 0 || input.keys.cols() == 0) return map;
    tbb::parallel_for(std::int64_t{0}, input.heads, [&](std::int64_t head) {
      const Recurrence of_head = heads(head);
      MatrixD weights = map_of(of_head, properties_.delta);
      if (runs_both_ways(input)) {
        weights += map_of(reversed(of_head), properties_.delta).reverse();
        weights.diagonal() = own_weights(of_head);
      }
      map.slice(head) = weights.cast<float>();
    });
    return map;
  }

  [[nodiscard]] MapStructure structure(const AttentionShape& shape) const override {
    return {.rank_bound = std::min(shape.queries, shape.keys),
            .rows_sum_to_one = false,
            .non_negative = false};
  }

 private:
  [[nodiscard]] RecurrentHeads heads_of(const AttentionInput& input) const {
    check_sequence(input, properties_.name);
    return properties_.heads(input);
  }

  [[nodiscard]] bool runs_both_ways(const AttentionInput& input) const {
    return properties_.both_ways && !input.causal;
  }

  RecurrentProperties properties_;
};

}  // namespace

std::unique_ptr<Mechanism> make_recurrent(RecurrentProperties properties) {
  return std::make_unique<Recurrent>(std::move(properties));
}

}  // namespace attnscope
