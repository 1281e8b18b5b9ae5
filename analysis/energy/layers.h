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
  bool crosses = false;   ///< its keys are the encoder's tokens
  bool has_mlp = true;
};

/// Layer `layer` of all, the `index`-th of `stage`. A multiplicative layer of an adder network is
/// so as a whole (Adder, 4.2): softmax takes the place of adder attention.
[[nodiscard]] CountedLayer layer_kind(const Network& network, const AccountingOptions& options,
                                      const Stage& stage, std::int64_t index, std::int64_t layer);

/// Key tokens of a layer of that kind.
[[nodiscard]] std::int64_t keys_of(const Stage& stage, const CountedLayer& kind);

/// Learned vectors of d that decomposed positions have in a layer of that kind; 0 without.
[[nodiscard]] std::int64_t offsets_of(const Stage& stage, const CountedLayer& kind);

/// Whether that projection of a layer has a bias.
[[nodiscard]] bool has_bias(const Network& network, const Projection& projection);

/// `times` the count. Throws Error(usage) beyond 2^63 - 1.
[[nodiscard]] OperationCount repeated(const OperationCount& count, std::int64_t times);

class LayerCosts {
 public:
  explicit LayerCosts(CostConvention convention, bool rms_norms = false)
      : convention_(convention), rms_norms_(rms_norms) {}

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

  /// LayerNorm: free (adder), 2·rows·width of both (ecoformer), every operation (complete). Where
  /// norms are RMS ones, which have neither mean nor bias, rows·width (ecoformer).
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

  /// q·R of the offsets of each query [rows, d] to the rows of a grid, and to its columns, and both
  /// added to each score [rows, keys].
  [[nodiscard]] OperationCount decomposed_positions(std::int64_t rows, std::int64_t width,
                                                    std::int64_t sides, std::int64_t keys) const;

  /// Element-wise products of two [rows, width]: of a gated MLP. Counted by `complete` alone.
  [[nodiscard]] OperationCount product(const std::string& name, std::int64_t rows,
                                       std::int64_t width) const;

 private:
  CostConvention convention_;
  bool rms_norms_;
};

}  // namespace attnscope
