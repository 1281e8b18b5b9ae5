// Hashed attention with its gradient (EcoFormer, Eq. 5, 7 to 9): codes are signs of the channels,
// through which gradients pass as through HardTanh.
#include <cmath>

#include "core/attention/hash_codes.h"
#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/trained_heads.h"

namespace attnscope {

namespace {

using RowD = Eigen::RowVectorXd;

/// h = α sign(x̂) of tokens x̂ = x / ‖x‖, α = ‖x̂‖₁ / d. HardTanh's derivative is 1 at every x̂, whose
/// channels are at most 1: the gradient of x̂ is α dh + (dh · sign) sign / d.
struct ScaledSigns {
  MatrixD unit, signs, codes;
  Eigen::VectorXd scales, lengths;

  ScaledSigns(const ConstStridedMatrixMap& tokens, bool zero_is_zero)
      : unit(unit_rows(tokens)),
        signs(unit.unaryExpr([zero_is_zero](double x) {
          return x > 0 || (x == 0 && !zero_is_zero) ? 1.0 : x < 0 ? -1.0 : 0.0;
        })),
        scales(unit.cwiseAbs().rowwise().mean()),
        lengths(tokens.cast<double>().rowwise().norm()) {
    codes = scales.asDiagonal() * signs;
  }

  /// Sets the gradient of the tokens, of that of their codes.
  void backward(const MatrixD& d_codes, StridedMatrixMap d_tokens) const {
    for (Eigen::Index i = 0; i < unit.rows(); ++i) {
      const double along = d_codes.row(i).dot(signs.row(i)) / static_cast<double>(unit.cols());
      const RowD d_unit = scales[i] * d_codes.row(i) + along * signs.row(i);
      const double length = lengths[i] > 0 ? lengths[i] : 1;
      d_tokens.row(i) = ((d_unit - d_unit.dot(unit.row(i)) * unit.row(i)) / length).cast<float>();
    }
  }
};

/// o_i = (h_i · Σ_j h_j v_jᵀ + bias Σ_j v_j) / (h_i · Σ_j h_j + bias N), over the j that i sees;
/// upstream's bias is of v_i alone in the numerator.
class TrainedHash final : public TrainedHeads {
 public:
  TrainedHash(bool causal, bool upstream) : causal_(causal), upstream_(upstream) {}

 private:
  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom&) const override {
    const ScaledSigns queries(head.queries, upstream_), keys(head.keys, upstream_);
    Sums sums = first_sums(head, keys);
    for (Eigen::Index i = 0; i < output.rows(); ++i) {
      if (causal_) sums.add(head, keys, i);
      output.row(i) = (above(head, queries, sums, i) / below(queries, sums, i)).cast<float>();
    }
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom&) const override {
    const ScaledSigns queries(head.queries, upstream_), keys(head.keys, upstream_);
    const Eigen::Index tokens = head.keys.rows(), bits = head.keys.cols();
    MatrixD d_above(tokens, head.values.cols()), d_queries(tokens, bits), d_keys(tokens, bits);
    Eigen::VectorXd d_below(tokens);
    Sums sums = first_sums(head, keys);
    for (Eigen::Index i = 0; i < tokens; ++i) {
      if (causal_) sums.add(head, keys, i);
      const double total = below(queries, sums, i);
      d_above.row(i) = d_output.row(i).cast<double>() / total;
      d_below[i] = -d_above.row(i).dot(above(head, queries, sums, i)) / total;
      d_queries.row(i) = d_above.row(i) * sums.products.transpose() + d_below[i] * sums.codes;
    }
    // What token j is part of: the queries from j on, or all of them.
    MatrixD products = MatrixD::Zero(bits, head.values.cols());
    RowD codes = RowD::Zero(bits), values = RowD::Zero(head.values.cols());
    const auto add_query = [&](Eigen::Index i) {
      products += queries.codes.row(i).transpose() * d_above.row(i);
      codes += d_below[i] * queries.codes.row(i);
      values += d_above.row(i);
    };
    for (Eigen::Index i = 0; !causal_ && i < tokens; ++i) add_query(i);
    for (Eigen::Index j = tokens - 1; j >= 0; --j) {
      if (causal_) add_query(j);
      const RowD of_bias = upstream_ ? RowD(d_above.row(j)) : values;
      gradients.values.row(j) = (keys.codes.row(j) * products + kBias * of_bias).cast<float>();
      d_keys.row(j) = head.values.row(j).cast<double>() * products.transpose() + codes;
    }
    queries.backward(d_queries, gradients.queries);
    keys.backward(d_keys, gradients.keys);
  }

  // 2^c, c = ⌈log2(1 + 1)⌉: products of scaled codes are at most 1. Upstream's 1 + 1 is the same.
  static constexpr double kBias = 2;

  /// Of the keys that were added.
  struct Sums {
    MatrixD products;    // Σ h_j v_jᵀ [d, dv]
    RowD codes, values;  // Σ h_j, Σ v_j
    double count = 0;

    void add(const HeadTensors& head, const ScaledSigns& keys, Eigen::Index j) {
      const RowD value = head.values.row(j).cast<double>();
      products += keys.codes.row(j).transpose() * value;
      codes += keys.codes.row(j);
      values += value;
      count += 1;
    }
  };

  [[nodiscard]] Sums first_sums(const HeadTensors& head, const ScaledSigns& keys) const {
    const Eigen::Index bits = head.keys.cols(), width = head.values.cols();
    Sums sums{MatrixD::Zero(bits, width), RowD::Zero(bits), RowD::Zero(width)};
    for (Eigen::Index j = 0; !causal_ && j < head.keys.rows(); ++j) sums.add(head, keys, j);
    return sums;
  }

  [[nodiscard]] RowD above(const HeadTensors& head, const ScaledSigns& queries, const Sums& sums,
                           Eigen::Index i) const {
    const RowD biased = upstream_ ? RowD(head.values.row(i).cast<double>()) : sums.values;
    return queries.codes.row(i) * sums.products + kBias * biased;
  }

  [[nodiscard]] static double below(const ScaledSigns& queries, const Sums& sums, Eigen::Index i) {
    return queries.codes.row(i).dot(sums.codes) + kBias * sums.count;
  }

  bool causal_, upstream_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_hash(const TrainedAttentionForm& form) {
  const TypedValues read(form.mechanism.parameters);
  if (!read.is("codes", name_of(HashKind::sign))) {
    throw Error(ErrorKind::unsupported,
                "the codes of this hash have no gradient: anchors and projections of a learnt one "
                "are fitted to the maps of a trained model, others are random")
        .about("codes")
        .expected("sign")
        .remedy("hash,codes=sign; attnscope learn-codes learns a hash for a trained model");
  }
  return std::make_unique<TrainedHash>(form.causal, read.is("mode", "upstream"));
}

}  // namespace attnscope
