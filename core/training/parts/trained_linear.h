// Linear layers with their gradients, multiplicative or adder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/tensor/tensor.h"
#include "core/training/kernels/difference_gradients.h"
#include "core/training/parameters/parameters.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// How gradients pass an adder layer, y = −Σ|x − W|.
struct AdderGradients {
  DifferenceGradient of_inputs = DifferenceGradient::hard_tanh;  ///< ∂y/∂x (Adder, Eq. 6)
  DifferenceGradient of_weights = DifferenceGradient::full;      ///< ∂y/∂W (Adder, Eq. 5)
};

/// A linear layer of several names in files: one after another, of so many outputs each.
struct LinearPart {
  std::string name;
  std::int64_t outputs = 0;
};

/// What a linear layer is; its parameters are `name`.weight [outputs, inputs] and, unless it has
/// none, `name`.bias.
struct TrainedLinearForm {
  std::string name = {};
  std::int64_t inputs = 0, outputs = 0;
  Arithmetic arithmetic = Arithmetic::multiplicative;
  Shape weight_shape = {};             ///< in files, where that is another of as many elements
  std::vector<LinearPart> parts = {};  ///< of a multiplicative layer, in place of `name`
  Beginning beginning = Beginning::xavier;
  bool bias = true;  ///< a multiplicative layer may have none
  // Of adder layers, whose outputs a LayerNorm `norm`.weight, .bias scales:
  AdderGradients gradients = {};
  std::string norm = {};
  double norm_eps = 1e-6;
  std::int64_t stretches = 1;  ///< of the outputs, each normalised by itself
};

/// y = x Wᵀ + b, or y = LayerNorm(−Σ|x − W| + b) (Adder, Eq. 4, 5): the forward is that of Linear.
class TrainedLinear {
 public:
  /// What the gradient needs beside x, of an adder layer.
  struct Memory {
    Matrix distances;
    TrainedNorm::Memory norm;
  };

  TrainedLinear() = default;
  TrainedLinear(ParameterTable& table, TrainedLinearForm form);

  /// x [n, inputs]; y becomes [n, outputs].
  void forward(const float* values, const Matrix& x, Matrix& y, Memory& memory) const;
  /// Adds the gradients of its parameters; dx, where it is asked for, becomes that of x.
  void backward(const float* values, float* gradients, const Matrix& x, const Matrix& dy,
                const Memory& memory, Matrix* dx) const;

 private:
  void multiplicative_backward(const float* values, float* gradients, const Matrix& x,
                               const Matrix& dy, Matrix* dx) const;
  void adder_backward(const float* values, float* gradients, const Matrix& x, const Matrix& dy,
                      Matrix* dx) const;
  void add_weight_gradient(const float* values, float* gradients, const Matrix& x,
                           const Matrix& dy) const;

  TrainedLinearForm form_;
  ParameterSlot weight_, bias_;
  std::optional<TrainedNorm> norm_;
};

}  // namespace attnscope
