// One layer of a transformer with its gradient: attention and MLP, each after a norm and with a
// residual.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/training/attention/trained_attention.h"
#include "core/training/parts/omission.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// Names of the tensors in a file, after "decoders.0.".
struct TrainedFastformerNames {
  std::string norm, query, key, value, out, middle_norm, query_importance, key_importance;
};

/// The two additive attentions of a Fastformer-LM layer, with their gradient. With n = norm(x) and
/// Q, K, V = n W: x = m + pool(norm′(m)) ⊙ V, where m = n + out(pool(Q)) ⊙ K.
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

/// The derivatives used for operations that add instead of multiplying, and optional learned
/// parameters.
struct GradientForms {
  AdderGradients linear;
  DifferenceGradient scores = DifferenceGradient::sign;  ///< used by adder attention
  bool learned_importances = false;                      ///< used by additive attention
};

/// Names of a layer's tensors in a file, after "blocks.0.".
struct TrainedBlockNames {
  std::string norm1, qkv, qkv_norm, heads_norm, out, out_norm, norm2, mlp1, mlp1_norm, mlp2,
      mlp2_norm;
  std::string own = {};  ///< prefix of the mechanism's own parameters: "attn."
  /// Replacements of `qkv` if keys have fewer channels; empty if a file has no such names.
  std::string query = {}, key = {}, value = {};
  /// Replacement of `qkv`, together with `value`, for a learned hash, whose queries are the keys
  /// (EcoFormer, 5.1). If empty, queries and keys are projected separately.
  std::string query_key = {};
  std::string hash = {};  ///< prefix of a learned hash's parameters: "attn.fast_attention."
  TrainedFastformerNames fastformer = {};  ///< names that replace all before norm2
};

/// x += out(attention(norm1 x)); x += mlp2(act(mlp1(norm2 x))). In adder arithmetic linear layers
/// have norms of their own, and so does the heads' output (Adder, 3.1). For LayerForm::fastformer,
/// TrainedFastformer replaces the first sum, and there are no biases. Omission applies to both
/// summands, or to the second one only for LayerForm::fastformer; the block takes two places.
class TrainedBlock {
 public:
  /// Results of the forward pass that the gradient needs.
  struct Memory {
    Matrix x, normed1, qkv, attended, normed_heads, middle, normed2, hidden, active, branch;
    TrainedNorm::Memory norm1, norm2, heads_norm;
    TrainedLinear::Memory qkv_layer, out_layer, mlp1_layer, mlp2_layer;
    AttentionRoom attention;
    TrainedFastformer::Memory fastformer;
  };
  /// Buffers for gradients, shared by all layers.
  struct Room {
    Matrix hidden, normed, attended, before_norm, qkv, branch;
    TrainedFastformer::Room fastformer;
  };

  /// Layer `index` of `spec`; adds its parameters under `prefix`.
  TrainedBlock(ParameterTable& table, const ModelSpec& spec, std::int64_t index,
               const std::string& prefix, const TrainedBlockNames& names,
               const GradientForms& forms);

  /// Transforms x [Σ lengths, D], the tokens of consecutive sequences of these lengths, in place.
  void forward(const float* values, std::span<const std::int64_t> lengths, Matrix& x,
               Memory& memory, const Omission& omission = {}) const;
  /// Replaces dx, the gradient of forward's output with the same omission, by that of its input.
  void backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                Matrix& dx, Memory& memory, Room& room, const Omission& omission = {}) const;

 private:
  void add_attention(ParameterTable& table, const ModelSpec& spec, std::int64_t index,
                     const std::string& prefix, const TrainedBlockNames& names,
                     const GradientForms& forms);
  /// Computes memory.middle from memory.x.
  void run_attention(const float* values, std::span<const std::int64_t> lengths, Memory& memory,
                     const Omission& omission) const;
  [[nodiscard]] AttentionTensors sequence_of(const Matrix& qkv, std::int64_t first_row,
                                             std::int64_t tokens) const;
  void attend(const float* values, std::span<const std::int64_t> lengths, Memory& memory,
              const Omission& omission) const;
  void attend_backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                       const Matrix& d_attended, Memory& memory, Matrix& d_qkv,
                       const Omission& omission) const;
  [[nodiscard]] TrainedLinear projections(ParameterTable& table, const std::string& prefix,
                                          const TrainedBlockNames& names) const;
  void activate(Memory& memory) const;
  void activate_backward(const Memory& memory, Matrix& d_active) const;

  std::int64_t width_, heads_, key_width_;
  bool shared_;  ///< true if the queries are the keys
  Activation activation_;
  std::shared_ptr<const TrainedAttention> attention_;
  std::vector<ParameterSlot> own_;  ///< slots of the mechanism's own parameters
  TrainedNorm norm1_, norm2_;
  std::optional<TrainedNorm> heads_norm_;
  std::optional<TrainedFastformer> fastformer_;  ///< replaces all before norm2
  TrainedLinear qkv_, out_, mlp1_, mlp2_;
};

}  // namespace attnscope
