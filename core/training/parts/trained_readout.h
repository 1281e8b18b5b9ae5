// What is read after the last layer, with its gradient: the class token, the mean, or every token.
#pragma once

#include <optional>
#include <span>

#include "core/architecture/model_spec.h"
#include "core/training/parts/cross_entropy.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// Logits of the final norm, where there is one, of what is read: of classes through a head, of a
/// language model by the table of token embeddings; of Fastformer-LM with a bias, and scaled. As
/// TokenReadout.
class TrainedReadout {
 public:
  struct Memory {
    Matrix read, normed, averaged, logits, d_averaged, d_normed, d_read;
    TrainedNorm::Memory norm;
    TrainedLinear::Memory head;
  };

  /// `embeddings`: the table of a language model.
  TrainedReadout(ParameterTable& table, const ModelSpec& spec, ParameterSlot embeddings);

  /// x [Σ lengths, D]. memory.logits becomes [examples, classes], of a language model
  /// [Σ lengths, vocabulary].
  void forward(const float* values, std::span<const std::int64_t> lengths, const Matrix& x,
               Memory& memory) const;
  /// dx becomes the gradient of x, of that of the logits in memory.logits.
  void backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                Matrix& dx, Memory& memory) const;

 private:
  void forward_vocabulary(const float* values, Memory& memory) const;
  void backward_vocabulary(const float* values, float* gradients, Memory& memory) const;
  [[nodiscard]] bool reads_all() const { return spec_.readout.kind != Readout::class_token; }

  ModelSpec spec_;
  std::optional<TrainedNorm> norm_;
  TrainedLinear head_;
  ParameterSlot embeddings_, bias_;  ///< of a language model
  float logit_scale_ = 1;
};

}  // namespace attnscope
