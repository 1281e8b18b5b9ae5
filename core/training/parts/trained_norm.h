// LayerNorm with its gradient.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/training/learned_parameters/learned_parameters.h"

namespace attnscope {

/// y = (x − mean) / √(variance + eps) ⊙ weight + bias over each row, or separately over each of
/// `groups` equal parts of a row, each with its own weights: [groups · width].
class TrainedNorm {
 public:
  /// Statistics of every part of every row, which the gradient needs besides x.
  struct Memory {
    std::vector<float> mean, scale;
  };

  TrainedNorm() = default;
  /// Adds `name`.weight and `name`.bias [width · groups].
  TrainedNorm(ParameterTable& table, const std::string& name, std::int64_t width, double eps,
              std::int64_t groups = 1);

  /// y may be the same matrix as x.
  void forward(const float* values, const Matrix& x, Matrix& y, Memory& memory) const;
  /// dx += the gradient of x; dx and dy must be different matrices. Adds those of its own
  /// parameters.
  void backward(const float* values, float* gradients, const Matrix& x, const Matrix& dy,
                const Memory& memory, Matrix& dx) const;

 private:
  ParameterSlot weight_, bias_;
  std::int64_t width_ = 0, groups_ = 1;
  float eps_ = 0;
};

}  // namespace attnscope
