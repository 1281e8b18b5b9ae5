// Mechanisms with their gradients: of one head of one sequence, on one thread. Many of them run at
// once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/costs/cost.h"
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

/// One head's queries and keys [N, d] and values [N, dv].
struct HeadTensors {
  ConstStridedMatrixMap queries, keys, values;
  /// The layer's own_parameters, in their order.
  std::span<const float* const> own = {};
};

/// Where their gradients are written.
struct HeadGradients {
  StridedMatrixMap queries, keys, values;
  std::span<float* const> own = {};  ///< added to: the heads of a layer share them
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
};

/// Immutable. Memory: O(N·d) and one block of the map; the map is computed again for its gradient,
/// never kept.
class TrainedAttention {
 public:
  virtual ~TrainedAttention() = default;
  /// What a layer of this shape learns besides its projections; by default nothing.
  [[nodiscard]] virtual std::vector<OwnParameter> own_parameters(const AttentionShape&) const {
    return {};
  }
  /// output = W · V, with W as Mechanism::implied_map has it.
  virtual void forward(const HeadTensors& head, StridedMatrixMap output,
                       AttentionRoom& room) const = 0;
  /// Sets the gradients, of those of the output; adds to those of own parameters.
  virtual void backward(const HeadTensors& head, const ConstStridedMatrixMap& d_output,
                        HeadGradients gradients, AttentionRoom& room) const = 0;
};

/// One line of the list.
struct TrainedAttentionEntry {
  std::string_view name;  ///< of the mechanism
  std::unique_ptr<const TrainedAttention> (*make)(const TrainedAttentionForm& form);
};

/// The mechanisms that can be trained, one file each.
[[nodiscard]] std::span<const TrainedAttentionEntry> trained_attentions();

/// Throws Error(usage) listing the mechanisms that can be trained, and as make_mechanism does for
/// their parameters.
[[nodiscard]] std::unique_ptr<const TrainedAttention> make_trained_attention(
    const TrainedAttentionForm& form);

}  // namespace attnscope
