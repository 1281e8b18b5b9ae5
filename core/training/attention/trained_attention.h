// Mechanisms with their gradients: of one layer and one sequence, on one thread. Many of them run
// at once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/costs/cost.h"
#include "core/attention/token_layout.h"
#include "core/parameters/parameters.h"
#include "core/tensor/tensor.h"
#include "core/training/kernels/difference_gradients.h"
#include "core/training/parameters/parameters.h"

namespace attnscope {

/// A tensor of a layer's mechanism that is learnt, under its name in TensorDescription: "pe0".
struct OwnParameter {
  std::string name;
  Shape shape;
  Beginning beginning = Beginning::small_normal;
};

/// Queries and keys [N, H·d] and values [N, H·dv] of one sequence, the heads beside each other.
/// DAFT's keys may have one channel for each head of its biases instead.
struct AttentionTensors {
  ConstStridedMatrixMap queries, keys, values;
  std::int64_t heads = 1;
  /// The layer's own_parameters, in their order.
  std::span<const float* const> own = {};
};

/// Where their gradients are written.
struct AttentionGradients {
  StridedMatrixMap queries, keys, values;
  std::span<float* const> own = {};  ///< added to: sequences share them
};

/// Space that one thread works in, kept from call to call.
struct AttentionRoom {
  std::vector<float> weights, gradients, packed;
};

/// What a layer asks of its mechanism beside the mechanism's own parameters.
struct TrainedAttentionForm {
  MechanismChoice mechanism;
  bool causal = false;
  /// Of adder attention, ∂A/∂Q and ∂A/∂K (Adder, Eq. 23 and Table 3).
  DifferenceGradient score_gradient = DifferenceGradient::sign;
  /// Of additive attention: importances by a vector of each head instead of the first query.
  bool learnt_importances = false;
  /// The layer's extents, with the most tokens that a sequence has. All 0 where the form is only
  /// checked: then nothing with parameters of its own can run.
  AttentionShape shape = {};
  TokenLayout layout = {};  ///< of its tokens
  std::int64_t layer = 0;   ///< which it is: random features differ from layer to layer
  bool shorter = false;     ///< whether sequences may have fewer tokens than the shape says
};

/// Immutable. Memory: O(N·d) and one block of the map; the map is computed again for its gradient,
/// never kept.
class TrainedAttention {
 public:
  virtual ~TrainedAttention() = default;
  /// What the layer learns besides its projections; by default nothing.
  [[nodiscard]] virtual std::vector<OwnParameter> own_parameters() const { return {}; }
  /// output [N, H·dv] = W · V of every head, with W as Mechanism::implied_map has it.
  virtual void forward(const AttentionTensors& all, StridedMatrixMap output,
                       AttentionRoom& room) const = 0;
  /// Sets the gradients, of those of the output; adds to those of own parameters.
  virtual void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                        AttentionGradients gradients, AttentionRoom& room) const = 0;
};

/// One line of the list.
struct TrainedAttentionEntry {
  std::string_view name;  ///< of the mechanism
  std::unique_ptr<const TrainedAttention> (*make)(const TrainedAttentionForm& form);
};

/// The mechanisms that can be trained, one file each.
[[nodiscard]] std::span<const TrainedAttentionEntry> trained_attentions();

/// Throws Error(usage) listing the mechanisms that can be trained, Error(unsupported) saying why
/// where one has no gradient, and as make_mechanism does for their parameters.
[[nodiscard]] std::unique_ptr<const TrainedAttention> make_trained_attention(
    const TrainedAttentionForm& form);

/// The mechanism's tensor of that name (TensorDescription) as the layer learns it; its shape is {}
/// where the form has no extents.
[[nodiscard]] OwnParameter own_parameter(const TrainedAttentionForm& form, std::string_view name,
                                         Beginning beginning = Beginning::small_normal);

}  // namespace attnscope
