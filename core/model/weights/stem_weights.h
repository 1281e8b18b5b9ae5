// The convolutions before patches, and norms by the statistics of training.
#pragma once

#include <string>

#include "core/model/parts/stem.h"
#include "core/model/weights/weight_reader.h"

namespace attnscope {

/// Of an evaluated BatchNorm: y = scale ⊙ x + shift, per channel.
struct ChannelScale {
  std::vector<float> scale, shift;

  /// Of what gives the channels: rows of a weight, and its bias.
  void take_into(MatrixMap weight, std::vector<float>& bias) const;
};

/// (x − running_mean) / √(running_var + eps) ⊙ weight + bias; none where the role has no
/// statistics. Throws Error(damaged) where it has but one of them.
[[nodiscard]] std::optional<ChannelScale> read_batch_norm(const WeightReader& reader,
                                                          const std::string& role,
                                                          std::int64_t channels, double eps);

/// None of a model without a stem.
[[nodiscard]] std::optional<Stem> read_stem(const WeightReader& reader, const InputSpec& input);

}  // namespace attnscope
