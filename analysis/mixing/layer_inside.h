// One layer's attention as a sum over heads and tokens: what mixing, attribution and balances are
// made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/subject.h"
#include "core/model/transformer/inner_parts.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// y = y_0 + Σ_h A^h G^h: G^h = γ ⊙ v^h W_O^h, A^h the map as the mechanism runs it.
class LayerInside {
 public:
  /// Needs the subject's model and a trace with maps, values and tokens. Throws Error(usage) for
  /// what they lack, and for layers that are no such sum: adder arithmetic, Fastformer, a norm
  /// between the heads and the residual, other tokens as keys, channels with maps of their own.
  LayerInside(const Subject& subject, std::int64_t layer);

  [[nodiscard]] std::int64_t heads() const { return std::ssize(given_); }
  [[nodiscard]] Eigen::Index tokens() const { return before_.rows(); }
  [[nodiscard]] const Block& block() const { return *block_; }
  [[nodiscard]] const TokenLayout& layout() const { return *layout_; }
  /// The tokens that the layer is given, [N, D].
  [[nodiscard]] const MatrixD& before() const { return before_; }
  [[nodiscard]] const MatrixD& after() const { return after_; }  ///< and gives
  [[nodiscard]] const MatrixD& map(std::int64_t head) const { return at(maps_, head); }
  [[nodiscard]] const MatrixD& given(std::int64_t head) const { return at(given_, head); }
  /// y_0 [D]: γ ⊙ the bias of W_O.
  [[nodiscard]] const Eigen::RowVectorXd& bias() const { return bias_; }
  /// The factor of the tokens that attention is added to; 0 without a residual.
  [[nodiscard]] double residual() const {
    return block_->spec.residual == Residual::none ? 0 : block_->spec.residual_scale;
  }
  /// What attention adds, [N, D].
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

/// The tokens that a layer is given, as they were recorded. Throws Error(usage) where they were
/// not, and where something lies between the layers.
[[nodiscard]] MatrixD tokens_before(const Subject& subject, std::int64_t layer);

/// A norm whose statistics are held fast: x ↦ (x − mean x) / s ⊙ weight, and its bias.
class FrozenNorm {
 public:
  /// Of rows [N, D], each with its own statistics.
  FrozenNorm(const LayerNorm& norm, const MatrixD& rows);

  /// Without the bias; the statistics are those of `row`.
  [[nodiscard]] Eigen::RowVectorXd apply(const Eigen::RowVectorXd& vector, Eigen::Index row) const;
  /// All rows, each with its own statistics, without the bias.
  [[nodiscard]] MatrixD apply(const MatrixD& rows) const;
  /// [D]; zeros where there is none.
  [[nodiscard]] const Eigen::RowVectorXd& bias() const { return bias_; }

 private:
  bool centres_;
  Eigen::RowVectorXd weight_, bias_;
  Eigen::VectorXd deviation_;
};

}  // namespace attnscope
