// The position biases of DAFT's windows in training: their entropy, their relaxed maximum, and the
// gradients of r, γ and β (DAFT, Eq. 9 to 11).
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "core/training/learned_parameters/learned_parameters.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

/// The parameters of one head: r over the window, γ and β.
struct WindowBias {
  Eigen::RowVectorXd r;
  double gamma = 0, beta = 0;

  /// w = γ (r − mean) / std + β, std of the population; 0 / 0 is 0 (DAFT, Eq. 9).
  [[nodiscard]] Eigen::RowVectorXd biases() const;
  /// Adds the gradients of r, γ and β, given that of w.
  void add_gradients(const Eigen::RowVectorXd& d_biases, float* d_r, float* d_gamma,
                     float* d_beta) const;
};

/// π = softmax((w + g) / τ) with τ = 0.5 (DAFT, Eq. 11). g is standard Gumbel noise, −ln(−ln U),
/// drawn from `noise`; null: 0.
[[nodiscard]] Eigen::RowVectorXd relaxed_maximum(const Eigen::RowVectorXd& biases,
                                                 const RandomNumbers* noise);

/// The gradient of w from that of w ⊙ π(w).
[[nodiscard]] Eigen::RowVectorXd gradient_through_maximum(const Eigen::RowVectorXd& biases,
                                                          const Eigen::RowVectorXd& maximum,
                                                          const Eigen::RowVectorXd& d_product);

/// reg(w) = Σ H(softmax(w)) over the heads of all layers with windows, in nats (DAFT, Eq. 10); w
/// are the biases in the window before any maximum: r itself for layers without γ and β. Adds the
/// gradient of weight · reg(w).
double add_bias_entropy(const ParameterTable& table, const float* values, double weight,
                        float* gradients);

}  // namespace attnscope
