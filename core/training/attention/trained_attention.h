// Mechanisms with their gradients: of one head of one sequence, on one thread. Many of them run at
// once.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/parameters/parameters.h"
#include "core/tensor/tensor.h"
#include "core/training/kernels/difference_gradients.h"

namespace attnscope {

/// One head's queries and keys [N, d] and values [N, dv].
struct HeadTensors {
  ConstStridedMatrixMap queries, keys, values;
};

/// Where their gradients are written.
struct HeadGradients {
  StridedMatrixMap queries, keys, values;
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

/// Without parameters of its own that are learned. Immutable. Memory: O(N·d) and one block of the
/// map; the map is computed again for its gradient, never kept.
class TrainedAttention {
 public:
  virtual ~TrainedAttention() = default;
  /// output = W · V, with W as Mechanism::implied_map has it.
  virtual void forward(const HeadTensors& head, StridedMatrixMap output,
                       AttentionRoom& room) const = 0;
  /// Sets the gradients, of those of the output.
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
