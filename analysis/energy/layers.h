// Costs of the parts of a transformer other than the attention core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/energy/accounting.h"
#include "analysis/energy/architecture.h"
#include "core/attention/costs/cost.h"

namespace attnscope {

/// Shape of the attention core of one layer, with all tokens as keys.
[[nodiscard]] AttentionShape shape_of(const Stage& stage);

/// Properties of a layer that decide how it is counted.
struct CountedLayer {
  Arithmetic arithmetic = Arithmetic::multiplicative;
  MechanismChoice mechanism;
  bool windowed = false;  ///< attention within the family's own windows
  bool reduced = false;   ///< keys after the family's own spatial reduction
  bool crosses = false;   ///< keys are the encoder's tokens
  bool has_mlp = true;
};

/// Properties of layer `layer` of the network, the `index`-th of `stage`. A multiplicative layer of
/// an adder network is entirely multiplicative (Adder, 4.2): softmax replaces adder attention.
[[nodiscard]] CountedLayer layer_kind(const Network& network, const AccountingOptions& options,
                                      const Stage& stage, std::int64_t index, std::int64_t layer);

/// Number of key tokens of such a layer.
[[nodiscard]] std::int64_t keys_of(const Stage& stage, const CountedLayer& kind);

/// Number of learned vectors [d] for decomposed positions in such a layer; 0 if there are none.
[[nodiscard]] std::int64_t offsets_of(const Stage& stage, const CountedLayer& kind);

/// The mechanism's projections. Those of keys and values have the stage's number of key heads.
[[nodiscard]] std::vector<Projection> layer_projections(const Stage& stage,
                                                        const MechanismCost& cost,
                                                        const AttentionShape& shape);

/// True if that projection of a layer has a bias.
[[nodiscard]] bool has_bias(const Network& network, const Projection& projection);

/// The count multiplied by `times`. Throws Error(usage) above 2^63 - 1.
[[nodiscard]] OperationCount repeated(const OperationCount& count, std::int64_t times);

class LayerCosts {
 public:
  explicit LayerCosts(CostConvention convention, bool rms_norms = false)
      : convention_(convention), rms_norms_(rms_norms) {}

  /// Linear layer, rows × inputs → outputs. An adder's |x - w| and its accumulation are two
  /// additions (Adder, Eq. 4). The bias is one addition per output, counted only by `complete`.
  [[nodiscard]] OperationCount linear(const std::string& name, std::int64_t rows,
                                      std::int64_t inputs, std::int64_t outputs, bool bias,
                                      Arithmetic arithmetic) const;

  /// Convolution: taps × channels products for each of rows × outputs. EcoFormer counts the bias as
  /// a multiplication too.
  [[nodiscard]] OperationCount convolution(const std::string& name, std::int64_t rows,
                                           std::int64_t taps, std::int64_t channels,
                                           std::int64_t outputs) const;

  /// LayerNorm: free (adder), 2·rows·width multiplications and additions (ecoformer), every
  /// operation (complete). RMS norms, which have neither mean nor bias: rows·width (ecoformer).
  [[nodiscard]] OperationCount norm(const std::string& name, std::int64_t rows,
                                    std::int64_t width) const;

  [[nodiscard]] OperationCount activation(const std::string& name, std::int64_t rows,
                                          std::int64_t width, Activation activation) const;

  /// Attention pooling before the head, the mean of rows weighted by softmax(w·tanh(P x)): logits,
  /// weights and their products with the rows [rows, width] (Wu et al. 2021).
  [[nodiscard]] std::vector<OperationCount> attention_pooling(std::int64_t rows, std::int64_t width,
                                                              std::int64_t hidden) const;

  /// Scaling of each channel by a learned number; counted only by `complete`.
  [[nodiscard]] OperationCount scaling(const std::string& name, std::int64_t rows,
                                       std::int64_t width) const;

  /// Element-wise addition of residuals or positions; counted only by `complete`.
  [[nodiscard]] OperationCount sum(const std::string& name, std::int64_t rows,
                                   std::int64_t width) const;

  /// Decomposed positions: products q·R of the queries [rows, d] with the vectors of row and column
  /// offsets, both added to each score [rows, keys].
  [[nodiscard]] OperationCount decomposed_positions(std::int64_t rows, std::int64_t width,
                                                    std::int64_t sides, std::int64_t keys) const;

  /// Rotary positions of `channels` channels of each row: two products and a sum for each channel;
  /// counted only by `complete`.
  [[nodiscard]] OperationCount rotation(std::int64_t rows, std::int64_t channels) const;

  /// The choice of `active` of `experts` MLPs for each row [width] by softmax(W x), and the sum of
  /// their outputs by their weights. Comparisons are not counted; all but W x only by `complete`.
  [[nodiscard]] std::vector<OperationCount> routing(std::int64_t rows, std::int64_t width,
                                                    std::int64_t experts, std::int64_t active,
                                                    bool biases) const;

  /// Element-wise products of two [rows, width] in a gated MLP; counted only by `complete`.
  [[nodiscard]] OperationCount product(const std::string& name, std::int64_t rows,
                                       std::int64_t width) const;

 private:
  CostConvention convention_;
  bool rms_norms_;
};

}  // namespace attnscope
