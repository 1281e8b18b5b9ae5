// Attention by a softmax or another function of scores, with its gradient: the base of mechanisms
// that score queries or pairs.
#pragma once

#include "core/training/attention/trained_heads.h"

namespace attnscope {

/// W = softmax(S), or softmax(S) + I; dropout applies to softmax(S). Derived classes provide the
/// scores of a block of queries and their gradients, and may replace the softmax.
class ScoreAttention : public TrainedHeads {
 public:
  ScoreAttention(bool causal, bool identity) : causal_(causal), identity_(identity) {}

 protected:
  /// Data shared by all blocks of a head, computed once per pass: packed keys, or hidden features.
  struct Prepared {
    PackedRows keys = {};
    Matrix hidden = {};
  };
  /// A block of a head's queries, from its query `first` on.
  struct Queries {
    std::int64_t first;
    ConstStridedMatrixMap rows;
  };
  [[nodiscard]] virtual Prepared prepare(const HeadTensors& head) const = 0;
  /// Writes the scores of `queries` with the first keys, as many as `scores` has columns.
  virtual void score(const Queries& queries, const HeadTensors& head, const Prepared& prepared,
                     StridedMatrixMap scores) const = 0;
  /// The factor applied to d_scores before score_gradients is called.
  [[nodiscard]] virtual float gradient_scale(const HeadTensors&) const { return 1; }
  /// Sets the gradient of these queries and adds to those of all keys and of the own parameters.
  /// `d_scores` is the gradient of the scores with the first keys; it may be overwritten.
  virtual void score_gradients(const Queries& queries, const HeadTensors& head,
                               const Prepared& prepared, StridedMatrixMap d_scores,
                               StridedMatrixMap d_queries, HeadGradients gradients,
                               AttentionRoom& room) const = 0;

  /// A block of the map of head `head`: queries [first, first + queries) and their visible keys,
  /// the first `keys`.
  struct Block {
    std::int64_t head = 0, first = 0, queries = 0, keys = 0;
    bool causal = false;
    /// Number of keys that the query in row `row` sees.
    [[nodiscard]] std::int64_t seen_by(std::int64_t row) const {
      return causal ? first + row + 1 : keys;
    }
  };
  /// Turns the scores of a block, −∞ for keys that a query does not see, into weights.
  virtual void weigh(StridedMatrixMap scores, const Block& block) const;
  /// Turns the gradients of the weights into those of the scores.
  virtual void weight_gradients(const ConstStridedMatrixMap& weights, StridedMatrixMap gradients,
                                const Block& block) const;

  void forward_head(const HeadTensors& head, StridedMatrixMap output,
                    AttentionRoom& room) const final;
  void backward_head(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                     HeadGradients gradients, AttentionRoom& room) const final;

 private:
  [[nodiscard]] Block block_at(const HeadTensors& head, std::int64_t first) const;
  [[nodiscard]] Block block_after(const HeadTensors& head, const Block& block) const;
  StridedMatrixMap weights_of(const Block& block, const HeadTensors& head, const Prepared& prepared,
                              std::vector<float>& room) const;
  static StridedMatrixMap after_dropout(const Block& block, const HeadTensors& head,
                                        const StridedMatrixMap& weights, std::vector<float>& room);

  bool causal_, identity_;
};

/// softmax(QKᵀ/√d) V. The numbers of queries and keys may differ.
[[nodiscard]] std::unique_ptr<const TrainedAttention> make_trained_softmax(
    const TrainedAttentionForm& form);

}  // namespace attnscope
