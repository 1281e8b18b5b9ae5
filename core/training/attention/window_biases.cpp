#include "core/training/attention/window_biases.h"

#include <cmath>
#include <string>

namespace attnscope {

namespace {

constexpr double kTemperature = 0.5;  // τ of Eq. 11

Eigen::RowVectorXd softmax_of(const Eigen::RowVectorXd& logits) {
  Eigen::RowVectorXd shares = (logits.array() - logits.maxCoeff()).exp();
  return shares / shares.sum();
}

/// The standard deviation of numbers with the mean 0.
double deviation_of(const Eigen::RowVectorXd& centred) {
  return std::sqrt(centred.squaredNorm() / static_cast<double>(centred.size()));
}

}  // namespace

Eigen::RowVectorXd WindowBias::biases() const {
  const Eigen::RowVectorXd centred = r.array() - r.mean();
  const double deviation = deviation_of(centred), scale = deviation > 0 ? gamma / deviation : 0;
  return scale * centred.array() + beta;
}

void WindowBias::add_gradients(const Eigen::RowVectorXd& d_biases, float* d_r, float* d_gamma,
                               float* d_beta) const {
  const Eigen::RowVectorXd centred = r.array() - r.mean();
  const double deviation = deviation_of(centred);
  *d_beta += static_cast<float>(d_biases.sum());
  if (!(deviation > 0)) return;
  const Eigen::RowVectorXd unit = centred / deviation;
  const double along = d_biases.dot(unit);
  *d_gamma += static_cast<float>(along);
  const Eigen::RowVectorXd of_r =
      gamma / deviation *
      (d_biases.array() - d_biases.mean() - along / static_cast<double>(r.size()) * unit.array());
  Eigen::Map<Eigen::RowVectorXf>(d_r, r.size()) += of_r.cast<float>();
}

Eigen::RowVectorXd relaxed_maximum(const Eigen::RowVectorXd& biases, const RandomNumbers* noise) {
  Eigen::RowVectorXd logits = biases;
  for (Eigen::Index i = 0; noise != nullptr && i < logits.size(); ++i) {
    logits(i) -= std::log(-std::log(noise->uniform(static_cast<std::uint64_t>(i))));
  }
  return softmax_of(logits / kTemperature);
}

Eigen::RowVectorXd gradient_through_maximum(const Eigen::RowVectorXd& biases,
                                            const Eigen::RowVectorXd& maximum,
                                            const Eigen::RowVectorXd& d_product) {
  const Eigen::RowVectorXd d_share = d_product.cwiseProduct(biases);
  const double mean = d_share.dot(maximum);
  return maximum.array() * (d_product.array() + (d_share.array() - mean) / kTemperature);
}

double add_bias_entropy(const ParameterTable& table, const float* values, double weight,
                        float* gradients) {
  double sum = 0;
  for (const Parameter& parameter : table.list()) {
    if (!parameter.own || !parameter.name.ends_with(".r")) continue;
    const std::string before = parameter.name.substr(0, parameter.name.size() - 1);
    const Parameter* const gamma = table.find(before + "gamma");
    const Parameter* const beta = table.find(before + "beta");
    const bool plain = gamma == nullptr || beta == nullptr;
    const std::int64_t heads = parameter.shape.front(), count = parameter.slot.size / heads;
    for (std::int64_t head = 0; head < heads; ++head) {
      WindowBias bias = {
          Eigen::Map<const Eigen::RowVectorXf>(parameter.slot.in(values) + head * count, count)
              .cast<double>()};
      if (!plain) {
        bias.gamma = static_cast<double>(gamma->slot.in(values)[head]);
        bias.beta = static_cast<double>(beta->slot.in(values)[head]);
      }
      const Eigen::RowVectorXd shares = softmax_of(plain ? bias.r : bias.biases());
      // Shares that underflow have no part in the entropy: p ln p → 0.
      const Eigen::RowVectorXd logarithms = shares.array().max(1e-300).log();
      const double entropy = -shares.dot(logarithms);
      sum += entropy;
      const Eigen::RowVectorXd d_biases = -weight * shares.array() * (logarithms.array() + entropy);
      float* const d_r = parameter.slot.in(gradients) + head * count;
      if (plain) {
        Eigen::Map<Eigen::RowVectorXf>(d_r, count) += d_biases.cast<float>();
      } else {
        bias.add_gradients(d_biases, d_r, gamma->slot.in(gradients) + head,
                           beta->slot.in(gradients) + head);
      }
    }
  }
  return sum;
}

}  // namespace attnscope
