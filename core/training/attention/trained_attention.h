// Mechanisms with gradients, for one layer and one sequence on one thread. Many of them run
// concurrently.
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
#include "core/training/attention/weight_dropout.h"
#include "core/training/kernels/difference_gradients.h"
#include "core/training/learned_parameters/learned_parameters.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// A learned tensor of a layer's mechanism, under its name in TensorDescription, such as "pe0".
struct OwnParameter {
  std::string name;
  Shape shape;
  Initialisation initialisation = Initialisation::small_normal;
};

/// Queries and keys [N, H·d] and values [N, H·dv] of one sequence, with the heads next to each
/// other. DAFT's keys may instead have one channel per head of its biases.
struct AttentionTensors {
  ConstStridedMatrixMap queries, keys, values;
  std::int64_t heads = 1;
  /// The layer's own_parameters, in their order.
  std::span<const float* const> own = {};
  /// Numbers of the layer's noise in a training pass, which only daft-one-hot draws; null: none.
  const RandomNumbers* noise = nullptr;
  /// Weights that a training pass leaves out; only for entries with has_weights.
  WeightDropout dropout = {};
};

/// Destinations of the gradients of AttentionTensors.
struct AttentionGradients {
  StridedMatrixMap queries, keys, values;
  std::span<float* const> own = {};  ///< accumulated, because sequences share them
};

/// Buffers of one thread, reused from call to call.
struct AttentionRoom {
  std::vector<float> weights, gradients, packed, dropped;
};

/// Settings of a layer's attention, including the choice of mechanism.
struct TrainedAttentionForm {
  MechanismChoice mechanism;
  bool causal = false;
  /// Adder attention: form of ∂A/∂Q and ∂A/∂K (Adder, Eq. 23 and Table 3).
  DifferenceGradient score_gradient = DifferenceGradient::sign;
  /// Additive attention: importances from a vector per head instead of the first query.
  bool learned_importances = false;
  /// The dimensions of the layer, with the maximum number of tokens of a sequence. All 0 if the
  /// form is only checked; a mechanism with own parameters cannot run then.
  AttentionShape shape = {};
  TokenLayout layout = {};  ///< layout of the layer's tokens
  std::int64_t layer = 0;   ///< index of the layer: random features differ from layer to layer
  bool shorter = false;     ///< true if sequences may have fewer tokens than `shape`
};

/// Immutable. Memory: O(N·d) and one block of the map; the map is recomputed for its gradient and
/// never stored.
class TrainedAttention {
 public:
  virtual ~TrainedAttention() = default;
  /// The learned parameters of the mechanism, besides the layer's projections; by default none.
  [[nodiscard]] virtual std::vector<OwnParameter> own_parameters() const { return {}; }
  /// Computes output [N, H·dv] = W · V of every head, with W as in Mechanism::implied_map.
  virtual void forward(const AttentionTensors& all, StridedMatrixMap output,
                       AttentionRoom& room) const = 0;
  /// Sets the gradients, given that of the output; adds to those of the own parameters.
  virtual void backward(const AttentionTensors& all, const ConstStridedMatrixMap& d_output,
                        AttentionGradients gradients, AttentionRoom& room) const = 0;
};

/// An entry of trained_attentions.
struct TrainedAttentionEntry {
  std::string_view name;  ///< name of the mechanism
  std::unique_ptr<const TrainedAttention> (*make)(const TrainedAttentionForm& form);
  bool has_weights = false;  ///< true if it computes a map of weights, which WeightDropout needs
};

/// The mechanisms that can be trained, one file each.
[[nodiscard]] std::span<const TrainedAttentionEntry> trained_attentions();

/// Throws Error(usage) listing the mechanisms that can be trained, Error(unsupported) with the
/// reason if one has no gradient, and the errors of make_mechanism for its parameters.
[[nodiscard]] std::unique_ptr<const TrainedAttention> make_trained_attention(
    const TrainedAttentionForm& form);

/// The mechanism's tensor of that name (TensorDescription) as the layer learns it. Its shape is {}
/// if the form has no dimensions.
[[nodiscard]] OwnParameter own_parameter(
    const TrainedAttentionForm& form, std::string_view name,
    Initialisation initialisation = Initialisation::small_normal);

}  // namespace attnscope
