#include "core/model/parts/sequence_convolution.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/model/parts/activation.h"

namespace attnscope {

namespace {

/// Unfolds `count` channels from `first` on into [positions, count · kernel], each row (channel,
/// token) around its position, with zeros beyond the ends.
Tensor unfolded(const Tensor& tokens, std::int64_t first, std::int64_t count, std::int64_t kernel,
                std::int64_t stride) {
  const std::int64_t length = tokens.extent(0), width = tokens.extent(1);
  Tensor windows({(length + stride - 1) / stride, count * kernel});
  float* out = windows.data();
  for (std::int64_t place = 0; place < length; place += stride) {
    for (std::int64_t channel = first; channel < first + count; ++channel) {
      for (std::int64_t i = place - kernel / 2; i <= place + kernel / 2; ++i) {
        *out++ = i < 0 || i >= length ? 0.0F : tokens.data()[i * width + channel];
      }
    }
  }
  return windows;
}

}  // namespace

Tensor SequenceConvolution::operator()(const Tensor& tokens) const {
  const auto count = static_cast<std::int64_t>(groups.size());
  const std::int64_t inputs = tokens.extent(1) / count, outputs = groups.front().outputs();
  Tensor result({(tokens.extent(0) + stride - 1) / stride, outputs * count});
  for (std::int64_t group = 0; group < count; ++group) {
    const Tensor windows = unfolded(tokens, group * inputs, inputs, kernel, stride);
    result.matrix().middleCols(group * outputs, outputs) =
        groups[static_cast<std::size_t>(group)](windows.matrix()).matrix();
  }
  return result;
}

void FirstConvolution::apply(const Tensor& embedded, Tensor& tokens) const {
  Tensor added = convolution(embedded);
  apply_activation(activation, added.values());
  tokens.matrix() += added.matrix();
  norm.apply(tokens.matrix());
}

}  // namespace attnscope
