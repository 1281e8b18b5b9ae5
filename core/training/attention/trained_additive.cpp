// Additive attention with its gradient (Wu et al. 2021, Eq. 3; Fastformer-LM, Eq. 4 to 15). Each
// token's importance is the product of its key with a vector learned by each head, or with the
// first token's query in models without importance vectors.
#include <algorithm>
#include <cmath>

#include "core/attention/additive_state.h"
#include "core/parameters/typed_values.h"
#include "core/training/attention/trained_heads.h"
#include "core/training/kernels/products.h"

namespace attnscope {

namespace {

using RowD = Eigen::RowVectorXd;

/// o_i = Σ_j e_j v_j / Z_i with Z_i = Σ_j e_j and e_j = exp(s_j), s_j = u · k_j / √d, over all j,
/// over j ≤ i, or over the last k of those.
///
/// Token j contributes to the queries from j on, so that its gradients are sums over them: ∂v_j =
/// Σ_i e_j / Z_i ∂o_i, ∂s_j = Σ_i e_j / Z_i ∂o_i · (v_j − o_i). These are the forward's sums in
/// reverse order, with −ln Z_i for s_j. The cost is O(N·d) for any k, without overflow or
/// cancellation.
class TrainedAdditive final : public TrainedHeads {
 public:
  /// `window` is k; 0 means all.
  TrainedAdditive(const TrainedAttentionForm& form, bool causal, std::int64_t window)
      : causal_(causal), window_(window) {
    if (form.learned_importances) {
      own_.push_back({"importance", {form.shape.heads, form.shape.head_width}});
    }
  }

  [[nodiscard]] std::vector<OwnParameter> own_parameters() const override { return own_; }

 private:
  /// The mean over the tokens visible to each query, and ln Z.
  struct Means {
    Matrix rows;          ///< [N, dv]
    Eigen::VectorXd log;  ///< [N]
  };

  /// Computes the means for logits [N] and rows [N, …], from the last row on if `backwards`.
  [[nodiscard]] Means means_of(const Eigen::VectorXd& logits, const Matrix& rows,
                               bool backwards) const {
    const Eigen::Index tokens = rows.rows();
    Means means{Matrix(tokens, rows.cols()), Eigen::VectorXd(tokens)};
    AdditiveState state(rows.cols(), window_);
    const auto width = static_cast<std::size_t>(rows.cols());
    Eigen::Index newest = 0;
    for (Eigen::Index i = 0; i < tokens; ++i) {
      newest = backwards ? tokens - 1 - i : i;
      means.log[newest] = state.push(logits[newest], {rows.row(newest).data(), width},
                                     {means.rows.row(newest).data(), width});
    }
    if (!causal_ && tokens > 0) {
      const Eigen::RowVectorXf whole = means.rows.row(newest);
      const double log = means.log[newest];
      means.rows.rowwise() = whole;
      means.log.setConstant(log);
    }
    return means;
  }

  /// The vector u: the head's own, or the first query.
  static RowD importance_of(const HeadTensors& head) {
    if (head.own.empty()) return head.queries.row(0).cast<double>();
    const std::int64_t width = head.keys.cols();
    return rows_of(head.own[0] + head.head * width, 1, width).cast<double>();
  }

  /// The logits s.
  static Eigen::VectorXd logits_of(const HeadTensors& head) {
    const double scale = 1 / std::sqrt(static_cast<double>(head.keys.cols()));
    return scale * (head.keys.cast<double>() * importance_of(head).transpose());
  }

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom&) const override {
    output = means_of(logits_of(head), head.values, false).rows;
  }

  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom&) const override {
    const Eigen::VectorXd logits = logits_of(head);
    const RowD importance = importance_of(head);
    const Eigen::Index tokens = head.keys.rows(), width = head.values.cols();
    const Means forward = means_of(logits, head.values, false);
    Matrix passed(tokens, width + 1);  // ∂o_i, and ∂o_i · o_i
    passed.leftCols(width) = d_output;
    passed.col(width) = d_output.cwiseProduct(forward.rows).rowwise().sum();
    const Means sums = means_of(-forward.log, passed, true);
    const double scale = 1 / std::sqrt(static_cast<double>(head.keys.cols()));
    RowD d_importance = RowD::Zero(head.keys.cols());
    for (Eigen::Index j = 0; j < tokens; ++j) {
      const double weight = std::exp(logits[j] + sums.log[j]);
      const RowD sum = weight * sums.rows.row(j).cast<double>();
      gradients.values.row(j) = sum.head(width).cast<float>();
      const double d_logit =
          scale * (head.values.row(j).cast<double>().dot(sum.head(width)) - sum[width]);
      gradients.keys.row(j) = (d_logit * importance).cast<float>();
      d_importance += d_logit * head.keys.row(j).cast<double>();
    }
    gradients.queries.setZero();
    if (head.own.empty()) {
      gradients.queries.row(0) = d_importance.cast<float>();
    } else {
      const std::int64_t width = head.keys.cols();
      rows_of(gradients.own[0] + head.head * width, 1, width) += d_importance.cast<float>();
    }
  }

  bool causal_;
  std::int64_t window_;
  std::vector<OwnParameter> own_;  ///< u [H, d] if it is learned
};

}  // namespace

std::unique_ptr<const TrainedAttention> make_trained_additive(const TrainedAttentionForm& form) {
  const TypedValues read(form.mechanism.parameters);
  const bool causal = form.causal || read.flag("causal");
  const std::int64_t window = std::max<std::int64_t>(read.whole("window"), 0);
  return std::make_unique<TrainedAdditive>(form, causal, causal ? window : 0);
}

}  // namespace attnscope
