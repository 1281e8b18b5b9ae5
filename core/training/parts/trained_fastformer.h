// The two additive attentions of a Fastformer-LM layer, with their gradient.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/training/attention/trained_attention.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// Names of the tensors in a file, after "decoders.0.".
struct TrainedFastformerNames {
  std::string norm, query, key, value, out, middle_norm, query_importance, key_importance;
};

/// With n = norm(x) and Q, K, V = n W: x = m + pool(norm′(m)) ⊙ V, where m = n + out(pool(Q)) ⊙ K.
/// The residual adds n, as in run_fastformer_attention (LayerForm::fastformer).
class TrainedFastformer {
 public:
  /// Results that the gradient needs besides x, [Σ lengths, D] each.
  struct Memory {
    Matrix normed, projections, pooled, projected, mixed, between, pooled_mixed;
    TrainedNorm::Memory norm, middle_norm;
    TrainedLinear::Memory linear;
    AttentionRoom attention;
  };
  /// Buffers for gradients, shared by all layers.
  struct Room {
    Matrix projections, means, tokens, of_values, of_queries;
  };
  struct Form {
    std::int64_t width = 0, heads = 1;
    double norm_eps = 1e-5;
    /// Additive attention with learned importances, applied to queries and to the mixed tokens.
    std::shared_ptr<const TrainedAttention> pooling;
  };

  /// Adds its parameters under `prefix`; linear layers have no bias.
  TrainedFastformer(ParameterTable& table, const std::string& prefix,
                    const TrainedFastformerNames& names, Form form);

  /// Computes y from x, the tokens of consecutive sequences of these lengths, [Σ lengths, D] each.
  void forward(const float* values, std::span<const std::int64_t> lengths, const Matrix& x,
               Matrix& y, Memory& memory) const;
  /// Replaces dx, the gradient of y, by that of x.
  void backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                const Matrix& x, Matrix& dx, Memory& memory, Room& room) const;

 private:
  /// Sets `means` to the pooled `tokens` [Σ lengths, D] for this importance.
  void pool(const float* importance, std::span<const std::int64_t> lengths,
            const ConstStridedMatrixMap& tokens, Matrix& means, AttentionRoom& room) const;
  /// Sets d_tokens to the gradient of `tokens`, given that of their means; adds that of the
  /// importance.
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
