// The read-out after the last layer, with its gradient: the class token, the mean, or every token.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/architecture/model_spec.h"
#include "core/tensor/tensor.h"
#include "core/training/parts/cross_entropy.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// Applies the final norm, if any, and computes logits of classes with a head, or of tokens with
/// the table of token embeddings; for Fastformer-LM with a bias and a scale. Like TokenReadout.
class TrainedReadout {
 public:
  struct Memory {
    Matrix read, normed, averaged, logits, d_averaged, d_normed, d_read;
    TrainedNorm::Memory norm;
    TrainedLinear::Memory head;
  };

  /// `embeddings` is the token table of a language model.
  TrainedReadout(ParameterTable& table, const ModelSpec& spec, ParameterSlot embeddings);

  /// x is [Σ lengths, D]. Sets memory.logits to [examples, classes]; in a language model to [Σ
  /// lengths, vocabulary].
  void forward(const float* values, std::span<const std::int64_t> lengths, const Matrix& x,
               Memory& memory) const;
  /// Sets dx to the gradient of x, given that of the logits in memory.logits.
  void backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                Matrix& dx, Memory& memory) const;

 private:
  void forward_vocabulary(const float* values, Memory& memory) const;
  void backward_vocabulary(const float* values, float* gradients, Memory& memory) const;
  [[nodiscard]] bool reads_all() const { return spec_.readout.kind != Readout::class_token; }

  ModelSpec spec_;
  std::optional<TrainedNorm> norm_;
  TrainedLinear head_;
  ParameterSlot embeddings_, bias_;  ///< used by language models; bias_ only by Fastformer-LM
  float logit_scale_ = 1;
};

}  // namespace attnscope
