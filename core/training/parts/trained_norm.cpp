#include "core/training/parts/trained_norm.h"

#include <cmath>

namespace attnscope {

namespace {

using MappedRow = Eigen::Map<const Eigen::ArrayXf>;
using MutableRow = Eigen::Map<Eigen::ArrayXf>;

}  // namespace

TrainedNorm::TrainedNorm(ParameterTable& table, const std::string& name, std::int64_t width,
                         double eps, std::int64_t groups)
    : weight_(table.add(name + ".weight", {width * groups}, Initialisation::ones)),
      bias_(table.add(name + ".bias", {width * groups}, Initialisation::zeros)),
      width_(width),
      groups_(groups),
      eps_(static_cast<float>(eps)) {}

void TrainedNorm::forward(const float* values, const Matrix& x, Matrix& y, Memory& memory) const {
  const auto count = static_cast<std::size_t>(x.rows() * groups_);
  memory.mean.resize(count);
  memory.scale.resize(count);
  y.resize(x.rows(), x.cols());
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(i) * width_;
    const std::int64_t column = at % x.cols();
    const MappedRow from(x.data() + at, width_), weight(weight_.in(values) + column, width_),
        bias(bias_.in(values) + column, width_);
    MutableRow to(y.data() + at, width_);
    const float mean = from.mean();
    const float variance = (from - mean).square().mean();
    const float scale = 1.0F / std::sqrt(variance + eps_);
    to = (from - mean) * scale * weight + bias;
    memory.mean[i] = mean;
    memory.scale[i] = scale;
  }
}

void TrainedNorm::backward(const float* values, float* gradients, const Matrix& x, const Matrix& dy,
                           const Memory& memory, Matrix& dx) const {
  Eigen::ArrayXf normalised(width_), weighed(width_);
  for (std::size_t i = 0; i < memory.mean.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i) * width_;
    const std::int64_t column = at % x.cols();
    const MappedRow from(x.data() + at, width_), gradient(dy.data() + at, width_),
        weight(weight_.in(values) + column, width_);
    normalised = (from - memory.mean[i]) * memory.scale[i];
    weighed = gradient * weight;
    MutableRow(weight_.in(gradients) + column, width_) += gradient * normalised;
    MutableRow(bias_.in(gradients) + column, width_) += gradient;
    const float mean = weighed.mean(), along = (weighed * normalised).mean();
    MutableRow(dx.data() + at, width_) += memory.scale[i] * (weighed - mean - normalised * along);
  }
}

}  // namespace attnscope
