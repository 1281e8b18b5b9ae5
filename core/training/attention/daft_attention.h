// DAFT with its gradient for any kind of position biases (DAFT, Eq. 4): the base of its variants.
#pragma once

#include "core/training/attention/trained_attention.h"

namespace attnscope {

/// Y = σ(Q) ⊙ (E (F ⊙ V)) / (E F), with E = exp(w) and F = exp(K), one block of E at a time. If not
/// gated, σ(Q) is left out, and queries have a gradient of 0 (Table 8). The maximum of each row of
/// w and of each channel of K is subtracted first, which cancels. Elements whose denominator is
/// then too small for float32 are computed separately in double. Keys with one channel per head of
/// w stand for all its channels (DAFT, 3.2). Derived classes provide w.
class DaftAttention : public TrainedAttention {
 public:
  explicit DaftAttention(bool causal, bool gated = true) : causal_(causal), gated_(gated) {}

  void forward(const AttentionTensors& all, StridedMatrixMap output,
               AttentionRoom& room) const final;
  void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                AttentionGradients gradients, AttentionRoom& room) const final;

 protected:
  /// The biases w during one pass, in heads of consecutive channels, for all tokens of a sequence.
  class Biases {
   public:
    Biases() = default;
    virtual ~Biases() = default;
    Biases(const Biases&) = delete;
    Biases& operator=(const Biases&) = delete;
    [[nodiscard]] virtual std::int64_t heads() const = 0;
    /// Writes w of head `head` for the queries from `first` on, [rows, N]; −∞ for keys that are not
    /// visible. The caller hides later keys from causal queries.
    virtual void fill(std::int64_t head, std::int64_t first, StridedMatrixMap block) const = 0;
    /// Receives the gradient of a block of w, which is 0 for keys that are not visible.
    virtual void take(std::int64_t head, std::int64_t first, const Matrix& d_block,
                      std::span<float* const> own) = 0;
    /// Called after all blocks: adds what remains to the gradients of the own parameters.
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

  bool causal_, gated_;
};

}  // namespace attnscope
