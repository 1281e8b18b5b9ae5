// DAFT with its gradient, whatever its position biases are (DAFT, Eq. 4): what its forms share.
#pragma once

#include "core/training/attention/trained_attention.h"

namespace attnscope {

/// Y = σ(Q) ⊙ (E (F ⊙ V)) / (E F), E = exp(w) and F = exp(K), a block of E at a time: the greatest
/// of each row of w and of each channel of K is subtracted, which cancels. Elements of which that
/// leaves nothing in float32 are computed by themselves, in double. Keys of one channel for each
/// head of w are those of all its channels (DAFT, 3.2). A derived class says what w is.
class DaftAttention : public TrainedAttention {
 public:
  explicit DaftAttention(bool causal) : causal_(causal) {}

  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom& room) const final;
  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom& room) const final;

 protected:
  /// w in one pass: those of heads of consecutive channels, of all tokens of a sequence.
  class Biases {
   public:
    Biases() = default;
    virtual ~Biases() = default;
    Biases(const Biases&) = delete;
    Biases& operator=(const Biases&) = delete;
    [[nodiscard]] virtual std::int64_t heads() const = 0;
    /// w of head `head` for the queries from `first` on, [rows, N]; −∞ where a key is not seen.
    /// Later keys are hidden from causal queries by the caller.
    virtual void fill(std::int64_t head, std::int64_t first, StridedMatrixMap block) const = 0;
    /// Takes the gradient of such a block, which is 0 where a key is not seen.
    virtual void take(std::int64_t head, std::int64_t first, const Matrix& d_block,
                      std::span<float* const> own) = 0;
    /// After all have been taken: what remains to be added to the own parameters' gradients.
    virtual void finish(std::span<float* const>) {}
  };
  [[nodiscard]] virtual std::unique_ptr<Biases> biases(const AttentionTensors& all) const = 0;

 private:
  struct Channels;
  struct LostElement;
  struct Block;

  void forward_wide(const AttentionTensors& all, const Biases& biases,
                    StridedMatrixMap output) const;
  void backward_wide(const AttentionTensors& all, Biases& biases,
                     const ConstStridedMatrixMap& d_output, AttentionGradients gradients) const;

  bool causal_;
};

}  // namespace attnscope
