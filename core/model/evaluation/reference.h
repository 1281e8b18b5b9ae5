// Reads a reference file: inputs and the results of a model's own code for them, in the layout of
// docs/self-test.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/input/input.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// The arrays of a reference, each with the inputs as its first axis.
class Reference {
 public:
  /// Throws Error(unsupported) for arrays with unknown names, and Error(damaged) if the arrays have
  /// different numbers of inputs or if there is nothing to compare.
  explicit Reference(const std::filesystem::path& file);

  [[nodiscard]] std::int64_t inputs() const;
  /// Number of layers of the maps or tokens; 0 without either.
  [[nodiscard]] std::int64_t layers() const;
  [[nodiscard]] Input input(std::int64_t index) const;
  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }

  /// The part of array `name` for one input.
  [[nodiscard]] Tensor of(const std::string& name, std::int64_t input) const;
  /// The part of array `name`, [B, L, …], for one input and layer. Throws Error(damaged) unless L
  /// is `layers`.
  [[nodiscard]] Tensor of(const std::string& name, std::int64_t input, std::int64_t layer,
                          std::int64_t layers) const;
  /// The attention maps of one layer, [H, N, M]; empty if the reference has none.
  [[nodiscard]] Tensor maps(std::int64_t input, std::int64_t layer, std::int64_t layers) const;

 private:
  Checkpoint stored_;
  std::map<std::string, TensorView> arrays_;  ///< array views by name
};

/// The greatest |ours − reference| divided by the greatest |reference|, for two tensors of one
/// shape. Infinite if any value is NaN.
[[nodiscard]] double relative_difference(const Tensor& ours, const Tensor& reference);

}  // namespace attnscope
