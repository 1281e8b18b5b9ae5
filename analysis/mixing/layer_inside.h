// One layer's attention as a sum over heads and tokens, for mixing, attribution and token flow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/subject.h"
#include "core/model/transformer/transformer.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Attention output y = y_0 + Σ_h A^h G^h, with G^h = γ ⊙ v^h W_O^h and A^h the map as the
/// mechanism runs it.
class LayerInside {
 public:
  /// Needs the subject's model and a trace with maps, values and tokens. Throws Error(usage) if
  /// they are missing, and for layers that are not such a sum: adder arithmetic, Fastformer, a norm
  /// between the heads and the residual, keys that differ from the queries' tokens, maps per
  /// channel.
  LayerInside(const Subject& subject, std::int64_t layer);

  [[nodiscard]] std::int64_t heads() const { return std::ssize(given_); }
  [[nodiscard]] Eigen::Index tokens() const { return before_.rows(); }
  [[nodiscard]] const Block& block() const { return *block_; }
  [[nodiscard]] const TokenLayout& layout() const { return *layout_; }
  /// Input tokens of the layer, [N, D].
  [[nodiscard]] const MatrixD& before() const { return before_; }
  [[nodiscard]] const MatrixD& after() const { return after_; }  ///< output tokens, [N, D]
  [[nodiscard]] const MatrixD& map(std::int64_t head) const { return at(maps_, head); }
  [[nodiscard]] const MatrixD& given(std::int64_t head) const { return at(given_, head); }
  /// y_0 [D]: γ ⊙ the bias of W_O.
  [[nodiscard]] const Eigen::RowVectorXd& bias() const { return bias_; }
  /// Factor of the input tokens in the residual sum; 0 without a residual.
  [[nodiscard]] double residual() const {
    return block_->spec.residual == Residual::none ? 0 : block_->spec.residual_scale;
  }
  /// Output y of the attention, [N, D].
  [[nodiscard]] MatrixD attended() const;

 private:
  static const MatrixD& at(const std::vector<MatrixD>& list, std::int64_t head) {
    return list.at(static_cast<std::size_t>(head));
  }

  const Block* block_;
  const TokenLayout* layout_;
  MatrixD before_, after_;
  std::vector<MatrixD> maps_, given_;
  Eigen::RowVectorXd bias_;
};

/// Throws Error(usage) unless the subject has its model and a trace.
void require_model_and_trace(const Subject& subject);

/// Input tokens of a layer as recorded, [N, D]. Throws Error(usage) if they were not recorded, or
/// if the layer is the first one of a later stage.
[[nodiscard]] MatrixD tokens_before(const Subject& subject, std::int64_t layer);

/// Norm with frozen statistics: x ↦ (x − mean x) / s ⊙ weight, without the mean for RMS norms, and
/// its bias.
class FrozenNorm {
 public:
  /// Takes the statistics s of each of the rows [N, D].
  FrozenNorm(const LayerNorm& norm, const MatrixD& rows);

  /// Applies the norm with the statistics of `row`, without the bias.
  [[nodiscard]] Eigen::RowVectorXd apply(const Eigen::RowVectorXd& vector, Eigen::Index row) const;
  /// Applies the norm to all rows, each with its own statistics, without the bias.
  [[nodiscard]] MatrixD apply(const MatrixD& rows) const;
  /// Bias [D]; zeros if the norm has none.
  [[nodiscard]] const Eigen::RowVectorXd& bias() const { return bias_; }

 private:
  bool centres_;
  Eigen::RowVectorXd weight_, bias_;
  Eigen::VectorXd deviation_;
};

}  // namespace attnscope
