#include "core/model/weights/stem_weights.h"

#include <cmath>
#include <utility>

namespace attnscope {

void ChannelScale::take_into(MatrixMap weight, std::vector<float>& bias) const {
  if (bias.empty()) bias.assign(scale.size(), 0.0F);
  for (std::size_t channel = 0; channel < scale.size(); ++channel) {
    weight.row(static_cast<Eigen::Index>(channel)) *= scale[channel];
    bias[channel] = bias[channel] * scale[channel] + shift[channel];
  }
}

std::optional<ChannelScale> read_batch_norm(const WeightReader& reader, const std::string& role,
                                            std::int64_t channels, double eps) {
  if (!reader.has(role + ".running_mean") && !reader.has(role + ".running_var")) {
    return std::nullopt;
  }
  const std::vector<float> mean = reader.read_vector(role + ".running_mean", channels);
  const std::vector<float> variance = reader.read_vector(role + ".running_var", channels);
  const std::vector<float> weight = reader.read_vector(role + ".weight", channels, false);
  const std::vector<float> bias = reader.read_vector(role + ".bias", channels, false);
  ChannelScale result;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double scale = (weight.empty() ? 1.0 : static_cast<double>(weight[i])) /
                         std::sqrt(static_cast<double>(variance[i]) + eps);
    const double shift = bias.empty() ? 0.0 : static_cast<double>(bias[i]);
    result.scale.push_back(static_cast<float>(scale));
    result.shift.push_back(static_cast<float>(shift - scale * static_cast<double>(mean[i])));
  }
  return result;
}

namespace {

/// Reads a LayerNorm, independent of the kind of norm in the layers.
std::optional<LayerNorm> read_layer_norm(const WeightReader& reader, const std::string& role,
                                         std::int64_t width, double eps) {
  if (!reader.has(role + ".weight")) return std::nullopt;
  std::vector<float> bias = reader.read_vector(role + ".bias", width, false);
  if (bias.empty()) bias.assign(static_cast<std::size_t>(width), 0.0F);
  return LayerNorm{reader.read_vector(role + ".weight", width), std::move(bias), eps, false};
}

}  // namespace

std::optional<Stem> read_stem(const WeightReader& reader, const InputSpec& input) {
  const StemSpec& spec = input.stem;
  if (spec.widths.empty()) return std::nullopt;
  Stem stem;
  stem.activation = spec.activation;
  std::int64_t channels = input.channels;
  for (std::size_t i = 0; i < spec.widths.size(); ++i) {
    const std::int64_t width = spec.widths[i], kernel = spec.kernels[i];
    const std::string role = "stem." + std::to_string(i);
    const std::string norm = "stem_norm." + std::to_string(i);
    Tensor weight = reader.read(role + ".weight", {width, channels, kernel, kernel});
    std::vector<float> bias = reader.read_vector(role + ".bias", width, false);
    const auto batch = read_batch_norm(reader, norm, width, spec.norm_eps);
    const MatrixMap rows(weight.data(), width, channels * kernel * kernel);
    if (batch) batch->take_into(rows, bias);
    stem.layers.push_back({{weight, std::move(bias), spec.strides[i], spec.paddings[i]}, {}});
    if (!batch) stem.layers.back().norm = read_layer_norm(reader, norm, width, spec.norm_eps);
    channels = width;
  }
  return stem;
}

}  // namespace attnscope
