// Reads the convolutions before the patch embedding, and batch norms.
#pragma once

#include <string>

#include "core/model/parts/stem.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// A BatchNorm in evaluation mode: y = scale ⊙ x + shift, per channel.
struct ChannelScale {
  std::vector<float> scale, shift;

  /// Folds the norm into the weight rows and the bias of the preceding layer.
  void take_into(MatrixMap weight, std::vector<float>& bias) const;
};

/// (x − running_mean) / √(running_var + eps) ⊙ weight + bias; empty if the role has no statistics.
/// Throws Error(damaged) if it has only one of the two.
[[nodiscard]] std::optional<ChannelScale> read_batch_norm(const WeightReader& reader,
                                                          const std::string& role,
                                                          std::int64_t channels, double eps);

/// Empty for a model without a stem.
[[nodiscard]] std::optional<Stem> read_stem(const WeightReader& reader, const InputSpec& input);

}  // namespace attnscope
