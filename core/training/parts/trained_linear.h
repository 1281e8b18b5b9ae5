// Linear layers with gradients, in multiplicative or adder arithmetic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/tensor/tensor.h"
#include "core/training/kernels/difference_gradients.h"
#include "core/training/learned_parameters/learned_parameters.h"
#include "core/training/parts/trained_norm.h"

namespace attnscope {

/// The derivatives used for an adder layer, y = −Σ|x − W|.
struct AdderGradients {
  DifferenceGradient of_inputs = DifferenceGradient::hard_tanh;  ///< ∂y/∂x (Adder, Eq. 6)
  DifferenceGradient of_weights = DifferenceGradient::full;      ///< ∂y/∂W (Adder, Eq. 5)
};

/// Part of a linear layer that is stored under several names; the parts follow each other.
struct LinearPart {
  std::string name;
  std::int64_t outputs = 0;
};

/// Description of a linear layer. Its parameters are `name`.weight [outputs, inputs] and, if it has
/// one, `name`.bias.
struct TrainedLinearForm {
  std::string name = {};
  std::int64_t inputs = 0, outputs = 0;
  Arithmetic arithmetic = Arithmetic::multiplicative;
  Shape weight_shape = {};             ///< shape in files, if not [outputs, inputs]
  std::vector<LinearPart> parts = {};  ///< parts of a multiplicative layer, which replace `name`
  Initialisation initialisation = Initialisation::xavier;
  bool bias = true;  ///< false for a multiplicative layer without bias
  // Members of adder layers, whose outputs are scaled by a LayerNorm `norm`.weight, .bias.
  AdderGradients gradients = {};
  std::string norm = {};
  double norm_eps = 1e-6;
  std::int64_t groups = 1;  ///< equal parts of the outputs, normalised separately
};

/// y = x Wᵀ + b, or y = LayerNorm(−Σ|x − W| + b) (Adder, Eq. 4, 5), like Linear.
class TrainedLinear {
 public:
  /// Results of an adder layer that the gradient needs besides x.
  struct Memory {
    Matrix distances;
    TrainedNorm::Memory norm;
  };

  TrainedLinear() = default;
  TrainedLinear(ParameterTable& table, TrainedLinearForm form);

  /// Maps x [n, inputs] to y [n, outputs].
  void forward(const float* values, const Matrix& x, Matrix& y, Memory& memory) const;
  /// Adds the gradients of its parameters; sets dx to that of x unless it is null.
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
