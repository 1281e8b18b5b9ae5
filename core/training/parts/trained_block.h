// One layer of a transformer with its gradient: attention and MLP, each after a norm and with its
// residual.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/training/attention/trained_attention.h"
#include "core/training/parts/trained_fastformer.h"
#include "core/training/parts/trained_linear.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// How gradients pass what adds instead of multiplying, and what is learnt that a model may have or
/// not.
struct GradientForms {
  AdderGradients linear;
  DifferenceGradient scores = DifferenceGradient::sign;  ///< of adder attention
  bool learnt_importances = false;                       ///< of additive attention
};

/// How a file names the tensors of a layer, after "blocks.0.".
struct TrainedBlockNames {
  std::string norm1, qkv, qkv_norm, heads_norm, out, out_norm, norm2, mlp1, mlp1_norm, mlp2,
      mlp2_norm;
  std::string own = {};  ///< what stands before those of a mechanism itself: "attn."
  /// In place of `qkv`, where keys have fewer channels; empty where a file has no such names.
  std::string query = {}, key = {}, value = {};
  /// In place of `qkv`, with `value`, under a learnt hash, whose queries are the keys (EcoFormer,
  /// 5.1). Empty: they are projected apart there too.
  std::string query_key = {};
  std::string hash = {};  ///< what stands before a learnt hash's own: "attn.fast_attention."
  TrainedFastformerNames fastformer = {};  ///< of such a layer, in place of all before norm2
};

/// x += out(attention(norm1 x)); x += mlp2(act(mlp1(norm2 x))). In adder arithmetic linear layers
/// have norms of their own, and the heads' output has one (Adder, 3.1). Of LayerForm::fastformer
/// TrainedFastformer in place of the first, and no biases.
class TrainedBlock {
 public:
  /// What the gradient needs of the forward.
  struct Memory {
    Matrix x, normed1, qkv, attended, normed_heads, middle, normed2, hidden, active, branch;
    TrainedNorm::Memory norm1, norm2, heads_norm;
    TrainedLinear::Memory qkv_layer, out_layer, mlp1_layer, mlp2_layer;
    AttentionRoom attention;
    TrainedFastformer::Memory fastformer;
  };
  /// Space for gradients that no other layer needs.
  struct Room {
    Matrix hidden, normed, attended, before_norm, qkv;
    TrainedFastformer::Room fastformer;
  };

  /// Layer `index` of `spec`; adds its parameters under `prefix`.
  TrainedBlock(ParameterTable& table, const ModelSpec& spec, std::int64_t index,
               const std::string& prefix, const TrainedBlockNames& names,
               const GradientForms& forms);

  /// x, the tokens of sequences of these lengths one after another, [Σ lengths, D]; in place.
  void forward(const float* values, std::span<const std::int64_t> lengths, Matrix& x,
               Memory& memory) const;
  /// dx, the gradient of what forward made, becomes that of what it was given.
  void backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                Matrix& dx, Memory& memory, Room& room) const;

 private:
  void add_attention(ParameterTable& table, const ModelSpec& spec, std::int64_t index,
                     const std::string& prefix, const TrainedBlockNames& names,
                     const GradientForms& forms);
  /// memory.middle, of memory.x.
  void run_attention(const float* values, std::span<const std::int64_t> lengths,
                     Memory& memory) const;
  [[nodiscard]] AttentionTensors sequence_of(const Matrix& qkv, std::int64_t first_row,
                                             std::int64_t tokens) const;
  void attend(const float* values, std::span<const std::int64_t> lengths, Memory& memory) const;
  void attend_backward(const float* values, float* gradients, std::span<const std::int64_t> lengths,
                       const Matrix& d_attended, Memory& memory, Matrix& d_qkv) const;
  [[nodiscard]] TrainedLinear projections(ParameterTable& table, const std::string& prefix,
                                          const TrainedBlockNames& names) const;
  void activate(Memory& memory) const;
  void activate_backward(const Memory& memory, Matrix& d_active) const;

  std::int64_t width_, heads_, key_width_;
  bool shared_;  ///< whether the queries are the keys
  Activation activation_;
  std::shared_ptr<const TrainedAttention> attention_;
  std::vector<ParameterSlot> own_;  ///< of the mechanism
  TrainedNorm norm1_, norm2_;
  std::optional<TrainedNorm> heads_norm_;
  std::optional<TrainedFastformer> fastformer_;  ///< in place of all before norm2
  TrainedLinear qkv_, out_, mlp1_, mlp2_;
};

}  // namespace attnscope
