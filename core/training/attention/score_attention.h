// Attention by a softmax over scores, with its gradient: what mechanisms share that score
// queries or pairs.
#pragma once

#include "core/training/attention/trained_heads.h"

namespace attnscope {

/// W = softmax(S), or softmax(S) + I. A derived class says what the scores of a block of queries
/// are, and what their gradients are to queries and keys.
class ScoreAttention : public TrainedHeads {
 public:
  ScoreAttention(bool causal, bool identity) : causal_(causal), identity_(identity) {}

 protected:
  /// What all blocks of a head share, made once for each pass: packed keys, or hidden features.
  struct Prepared {
    PackedRows keys = {};
    Matrix hidden = {};
  };
  /// Some of a head's queries, from its query `first` on.
  struct Queries {
    std::int64_t first;
    ConstStridedMatrixMap rows;
  };
  [[nodiscard]] virtual Prepared prepare(const HeadTensors& head) const = 0;
  /// `scores` of `queries` with the first of the keys, as many as it has columns.
  virtual void score(const Queries& queries, const HeadTensors& head, const Prepared& prepared,
                     StridedMatrixMap scores) const = 0;
  /// What d_scores are multiplied with before score_gradients is given them.
  [[nodiscard]] virtual float gradient_scale(const HeadTensors&) const { return 1; }
  /// Sets the gradient of those queries and adds to that of all keys, and to own parameters'.
  /// `d_scores`, the gradient of scores with the first of the keys, may be written to.
  virtual void score_gradients(const Queries& queries, const HeadTensors& head,
                               const Prepared& prepared, StridedMatrixMap d_scores,
                               StridedMatrixMap d_queries, HeadGradients gradients,
                               AttentionRoom& room) const = 0;

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom& room) const final;
  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom& room) const final;

 private:
  struct Block;
  [[nodiscard]] Block block_at(const HeadTensors& head, std::int64_t first) const;
  [[nodiscard]] Block block_after(const HeadTensors& head, const Block& block) const;
  StridedMatrixMap weigh(const Block& block, const HeadTensors& head, const Prepared& prepared,
                         std::vector<float>& room) const;

  bool causal_, identity_;
};

/// softmax(QKᵀ/√d) V, of as many queries and as many keys as there are.
[[nodiscard]] std::unique_ptr<const TrainedAttention> make_trained_softmax(
    const TrainedAttentionForm& form);

}  // namespace attnscope
