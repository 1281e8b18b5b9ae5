// Attention by a softmax over scores, with its gradient: what softmax and adder attention share.
#pragma once

#include "core/training/attention/trained_attention.h"

namespace attnscope {

/// W = softmax(S), or softmax(S) + I. A derived class says what the scores of a block of queries
/// are, and what their gradients are to queries and keys.
class ScoreAttention : public TrainedAttention {
 public:
  ScoreAttention(bool causal, bool identity) : causal_(causal), identity_(identity) {}

  void forward(const HeadTensors& head, StridedMatrixMap output, AttentionRoom& room) const final;
  void backward(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                HeadGradients gradients, AttentionRoom& room) const final;

 protected:
  /// What all blocks of a head share, made once for each pass: packed keys.
  struct Prepared {
    PackedRows keys;
  };
  [[nodiscard]] virtual Prepared prepare(const HeadTensors& head) const = 0;
  /// `scores` of `queries` with the first of the keys, as many as it has columns.
  virtual void score(const ConstStridedMatrixMap& queries, const HeadTensors& head,
                     const Prepared& prepared, StridedMatrixMap scores) const = 0;
  /// Sets the gradient of those queries and adds to that of all keys. `d_scores`, the gradient of
  /// scores with the first of the keys, may be written to.
  virtual void score_gradients(const ConstStridedMatrixMap& queries, const HeadTensors& head,
                               const Prepared& prepared, StridedMatrixMap d_scores,
                               StridedMatrixMap d_queries, StridedMatrixMap d_keys,
                               AttentionRoom& room) const = 0;

 private:
  struct Block;
  [[nodiscard]] Block block_at(const HeadTensors& head, std::int64_t first) const;
  [[nodiscard]] Block block_after(const HeadTensors& head, const Block& block) const;
  StridedMatrixMap weigh(const Block& block, const HeadTensors& head, const Prepared& prepared,
                         std::vector<float>& room) const;

  bool causal_, identity_;
};

}  // namespace attnscope
