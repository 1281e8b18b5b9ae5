// The two additive attentions of a layer of Fastformer-LM, with their gradient.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/training/attention/trained_attention.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// How a file names its tensors, after "decoders.0.".
struct TrainedFastformerNames {
  std::string norm, query, key, value, out, middle_norm, query_importance, key_importance;
};

/// n = norm(x), with Q, K, V = n W: x = m + pool(norm′(m)) ⊙ V of m = n + out(pool(Q)) ⊙ K. The
/// residual is that of n, as run_fastformer_attention has it (LayerForm::fastformer).
class TrainedFastformer {
 public:
  /// What the gradient needs beside x, [Σ lengths, D] each.
  struct Memory {
    Matrix normed, projections, pooled, projected, mixed, between, pooled_mixed;
    TrainedNorm::Memory norm, middle_norm;
    TrainedLinear::Memory linear;
    AttentionRoom attention;
  };
  /// Space for gradients that no other layer needs.
  struct Room {
    Matrix projections, means, tokens, of_values, of_queries;
  };
  struct Form {
    std::int64_t width = 0, heads = 1;
    double norm_eps = 1e-5;
    /// Additive, with importances of its own: run once for queries and once for what is mixed.
    std::shared_ptr<const TrainedAttention> pooling;
  };

  /// Adds its parameters under `prefix`; linear layers have no bias.
  TrainedFastformer(ParameterTable& table, const std::string& prefix,
                    const TrainedFastformerNames& names, Form form);

  /// x, the tokens of sequences of these lengths one after another, [Σ lengths, D]; y becomes the
  /// same of what is made of them.
  void forward(const float* values, std::span<const std::int64_t> lengths, const Matrix& x,
               Matrix& y, Memory& memory) const;
  /// dx, the gradient of y, becomes that of x.
  void backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                const Matrix& x, Matrix& dx, Memory& memory, Room& room) const;

 private:
  /// means becomes those of `tokens` [Σ lengths, D] with this importance.
  void pool(const float* importance, std::span<const std::int64_t> lengths,
            const ConstStridedMatrixMap& tokens, Matrix& means, AttentionRoom& room) const;
  /// d_tokens becomes the gradient of `tokens`, of that of their means; adds that of importance.
  void pool_backward(const float* importance, float* d_importance,
                     std::span<const std::int64_t> lengths, const ConstStridedMatrixMap& tokens,
                     const Matrix& d_means, StridedMatrixMap d_tokens, AttentionRoom& attention,
                     Room& room) const;

  Form form_;
  TrainedNorm norm_, middle_norm_;
  TrainedLinear projections_, out_;
  ParameterSlot query_importance_, key_importance_;
};

}  // namespace attnscope
