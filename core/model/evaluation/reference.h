// The file of a reference: inputs and what a model's own code computes of them, laid out as
// docs/self-test.md says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/input/input.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// The reference's arrays, each with the inputs as its first axis.
class Reference {
 public:
  /// Throws Error(unsupported) for arrays of unknown names, Error(damaged) where they are not of
  /// the same inputs or there is nothing to compare.
  explicit Reference(const std::filesystem::path& file);

  [[nodiscard]] std::int64_t inputs() const;
  /// The number of layers that maps or tokens have; 0 without any.
  [[nodiscard]] std::int64_t layers() const;
  [[nodiscard]] Input input(std::int64_t index) const;
  [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }

  /// The part of array `name` that belongs to one input.
  [[nodiscard]] Tensor of(const std::string& name, std::int64_t input) const;
  /// The part of array `name`, [B, L, …], that belongs to one input and layer. Throws
  /// Error(damaged) unless L is `layers`.
  [[nodiscard]] Tensor of(const std::string& name, std::int64_t input, std::int64_t layer,
                          std::int64_t layers) const;
  /// The attention maps of one layer, [H, N, M]; empty where there are none.
  [[nodiscard]] Tensor maps(std::int64_t input, std::int64_t layer, std::int64_t layers) const;

 private:
  Checkpoint stored_;
  std::map<std::string, TensorView> arrays_;  ///< each unpacked once
};

/// Greatest |ours − reference| over the greatest |reference|, two tensors of one shape; infinite
/// where one is NaN.
[[nodiscard]] double relative_difference(const Tensor& ours, const Tensor& reference);

}  // namespace attnscope
