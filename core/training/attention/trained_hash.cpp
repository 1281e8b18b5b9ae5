// Hashed attention with its gradient (EcoFormer, Eq. 7 to 9), with sign codes or learned codes.
#include <bit>
#include <string>

#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/trained_codes.h"

namespace attnscope {

namespace {

using RowD = Eigen::RowVectorXd;

/// o_i = (h_i · Σ_j h_j v_jᵀ + bias Σ_j v_j) / (h_i · Σ_j h_j + bias N), over the keys j visible to
/// i. In upstream's form the numerator has bias v_i instead of bias Σ_j v_j. Derived classes
/// provide h.
class TrainedHash : public TrainedHeads {
 protected:
  /// `greatest` is the upper bound of a product of codes.
  TrainedHash(bool causal, bool upstream, std::int64_t greatest)
      : causal_(causal), upstream_(upstream) {
    // The bias is 2^c with c = ⌈log2(greatest + 1)⌉, or greatest + 1 in upstream's form.
    const auto above = static_cast<std::uint64_t>(greatest) + 1;
    bias_ = static_cast<double>(upstream ? above : std::bit_ceil(above));
  }

  [[nodiscard]] virtual std::unique_ptr<const TrainedCodes> codes_of(
      const HeadTensors& head) const = 0;
  [[nodiscard]] bool zero_is_zero() const { return upstream_; }

 private:
  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom&) const override {
    const auto codes = codes_of(head);
    Sums sums = first_sums(head, codes->keys());
    for (Eigen::Index i = 0; i < output.rows(); ++i) {
      if (causal_) sums.add(head, codes->keys(), i);
      const RowD query = codes->queries().row(i);
      output.row(i) = (above(head, query, sums, i) / below(query, sums)).cast<float>();
    }
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom&) const override {
    const auto codes = codes_of(head);
    const MatrixD &queries = codes->queries(), &keys = codes->keys();
    const Eigen::Index tokens = head.keys.rows(), bits = keys.cols();
    MatrixD d_above(tokens, head.values.cols()), d_queries(tokens, bits), d_keys(tokens, bits);
    Eigen::VectorXd d_below(tokens);
    Sums sums = first_sums(head, keys);
    for (Eigen::Index i = 0; i < tokens; ++i) {
      if (causal_) sums.add(head, keys, i);
      const RowD query = queries.row(i);
      const double total = below(query, sums);
      d_above.row(i) = d_output.row(i).cast<double>() / total;
      d_below[i] = -d_above.row(i).dot(above(head, query, sums, i)) / total;
      d_queries.row(i) = d_above.row(i) * sums.products.transpose() + d_below[i] * sums.codes;
    }
    // Token j contributes to the queries from j on if causal, otherwise to all queries.
    MatrixD products = MatrixD::Zero(bits, head.values.cols());
    RowD of_codes = RowD::Zero(bits), values = RowD::Zero(head.values.cols());
    const auto add_query = [&](Eigen::Index i) {
      products += queries.row(i).transpose() * d_above.row(i);
      of_codes += d_below[i] * queries.row(i);
      values += d_above.row(i);
    };
    for (Eigen::Index i = 0; !causal_ && i < tokens; ++i) add_query(i);
    for (Eigen::Index j = tokens - 1; j >= 0; --j) {
      if (causal_) add_query(j);
      const RowD of_bias = upstream_ ? RowD(d_above.row(j)) : values;
      gradients.values.row(j) = (keys.row(j) * products + bias_ * of_bias).cast<float>();
      d_keys.row(j) = head.values.row(j).cast<double>() * products.transpose() + of_codes;
    }
    codes->backward(std::move(d_queries), std::move(d_keys), gradients);
  }

  /// Sums over the keys that were added.
  struct Sums {
    MatrixD products;    // Σ h_j v_jᵀ [b, dv]
    RowD codes, values;  // Σ h_j, Σ v_j
    double count = 0;

    void add(const HeadTensors& head, const MatrixD& keys, Eigen::Index j) {
      const RowD value = head.values.row(j).cast<double>();
      products += keys.row(j).transpose() * value;
      codes += keys.row(j);
      values += value;
      count += 1;
    }
  };

  [[nodiscard]] Sums first_sums(const HeadTensors& head, const MatrixD& keys) const {
    const Eigen::Index bits = keys.cols(), width = head.values.cols();
    Sums sums{MatrixD::Zero(bits, width), RowD::Zero(bits), RowD::Zero(width)};
    for (Eigen::Index j = 0; !causal_ && j < head.keys.rows(); ++j) sums.add(head, keys, j);
    return sums;
  }

  [[nodiscard]] RowD above(const HeadTensors& head, const RowD& query, const Sums& sums,
                           Eigen::Index i) const {
    const RowD biased = upstream_ ? RowD(head.values.row(i).cast<double>()) : sums.values;
    return query * sums.products + bias_ * biased;
  }

  [[nodiscard]] double below(const RowD& query, const Sums& sums) const {
    return query.dot(sums.codes) + bias_ * sums.count;
  }

  bool causal_, upstream_;
  double bias_;
};

class TrainedSignHash final : public TrainedHash {
 public:
  /// Products of scaled signs are at most 1, because their rows have at most length 1.
  TrainedSignHash(bool causal, bool upstream) : TrainedHash(causal, upstream, 1) {}

 private:
  [[nodiscard]] std::unique_ptr<const TrainedCodes> codes_of(
      const HeadTensors& head) const override {
    return sign_codes(head, zero_is_zero());
  }
};

class TrainedLearnedHash final : public TrainedHash {
 public:
  TrainedLearnedHash(const TrainedAttentionForm& form, bool upstream, std::int64_t bits,
                     std::int64_t supports)
      : TrainedHash(false, upstream, bits),
        own_{own_parameter(form, "ksh.A", Initialisation::standard_normal),
             own_parameter(form, "ksh.mvec", Initialisation::zeros),
             own_parameter(form, "ksh.anchor", Initialisation::standard_normal)},
        bits_(bits),
        supports_(supports) {
    if (form.shape.keys == 0 || supports <= form.shape.keys) return;
    throw Error(ErrorKind::usage, "there are more supports than tokens")
        .about("hash supports")
        .expected("at most " + std::to_string(form.shape.keys))
        .found(std::to_string(supports));
  }

  /// The parameters get no gradient: a run learns them separately from the attention.
  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override { return own_; }

 private:
  [[nodiscard]] std::unique_ptr<const TrainedCodes> codes_of(
      const HeadTensors& head) const override {
    return learned_codes(head, bits_, supports_, zero_is_zero());
  }

  std::vector<OwnParameter> own_;
  std::int64_t bits_, supports_;
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_hash(const TrainedAttentionForm& form) {
  const TypedValues read(form.mechanism.parameters);
  const bool upstream = read.is("mode", "upstream");
  if (read.is("codes", name_of(HashKind::sign))) {
    return std::make_unique<TrainedSignHash>(form.causal, upstream);
  }
  if (!read.is("codes", name_of(HashKind::learned))) {
    throw Error(ErrorKind::unsupported, "the codes of this hash have no gradient here")
        .about("codes")
        .expected("learned or sign")
        .found(read.text("codes"))
        .remedy("hash,codes=sign, or hash,codes=learned, which code_weights=random makes KLSH");
  }
  if (form.causal || form.shorter) {
    throw Error(ErrorKind::unsupported,
                "learned hash codes cannot be trained on texts: their queries and keys have "
                "separate projections")
        .about("codes")
        .expected("sign, for texts")
        .found("learned");
  }
  return std::make_unique<TrainedLearnedHash>(form, upstream, read.whole("bits"),
                                              read.whole("supports"));
}

}  // namespace attnscope
