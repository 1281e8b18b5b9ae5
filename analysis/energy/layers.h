// What the parts of a transformer around its attention cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/energy/accounting.h"
#include "analysis/energy/architecture.h"
#include "core/attention/costs/cost.h"

namespace attnscope {

/// Extents of the attention core of one layer, all tokens as keys.
[[nodiscard]] AttentionShape shape_of(const Stage& stage);

/// How one layer of a network is counted.
struct CountedLayer {
  Arithmetic arithmetic = Arithmetic::multiplicative;
  MechanismChoice mechanism;
  bool windowed = false;  ///< within the family's own windows
  bool reduced = false;   ///< its keys are the family's own spatial reduction
};

/// Layer `layer` of all, the `index`-th of `stage`. A multiplicative layer of an adder network is
/// so as a whole (Adder, 4.2): softmax takes the place of adder attention.
[[nodiscard]] CountedLayer layer_kind(const Network& network, const AccountingOptions& options,
                                      const Stage& stage, std::int64_t index, std::int64_t layer);

/// Key tokens of a layer of that kind.
[[nodiscard]] std::int64_t keys_of(const Stage& stage, const CountedLayer& kind);

/// `times` the count. Throws Error(usage) beyond 2^63 - 1.
[[nodiscard]] OperationCount repeated(const OperationCount& count, std::int64_t times);

class LayerCosts {
 public:
  explicit LayerCosts(CostConvention convention) : convention_(convention) {}

  /// rows × inputs → outputs. An adder's |x - w| and its accumulation are two additions (Adder,
  /// Eq. 4). The bias is one addition an output, counted by `complete` alone.
  [[nodiscard]] OperationCount linear(const std::string& name, std::int64_t rows,
                                      std::int64_t inputs, std::int64_t outputs, bool bias,
                                      Arithmetic arithmetic) const;

  /// taps × channels products for each of rows × outputs. EcoFormer counts the bias as a
  /// multiplication too.
  [[nodiscard]] OperationCount convolution(const std::string& name, std::int64_t rows,
                                           std::int64_t taps, std::int64_t channels,
                                           std::int64_t outputs) const;

  /// LayerNorm: free (adder), 2·rows·width of both (ecoformer), every operation (complete).
  [[nodiscard]] OperationCount norm(const std::string& name, std::int64_t rows,
                                    std::int64_t width) const;

  [[nodiscard]] OperationCount activation(const std::string& name, std::int64_t rows,
                                          std::int64_t width, Activation activation) const;

  /// The mean of the rows that the head reads, by softmax(w·tanh(P x)): logits, weights and their
  /// products with the rows [rows, width] (Wu et al. 2021).
  [[nodiscard]] std::vector<OperationCount> attention_pooling(std::int64_t rows, std::int64_t width,
                                                              std::int64_t hidden) const;

  /// Each channel times a number of its own: counted by `complete` alone.
  [[nodiscard]] OperationCount scaling(const std::string& name, std::int64_t rows,
                                       std::int64_t width) const;

  /// Element-wise addition: of residuals and positions. Counted by `complete` alone.
  [[nodiscard]] OperationCount sum(const std::string& name, std::int64_t rows,
                                   std::int64_t width) const;

 private:
  CostConvention convention_;
};

}  // namespace attnscope
