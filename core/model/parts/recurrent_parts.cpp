#include "core/model/parts/recurrent_parts.h"

#include <cmath>
#include <tbb/parallel_for.h>
#include <utility>

#include "core/attention/kernels/exponentials.h"
#include "core/model/parts/activation.h"

namespace attnscope {

namespace {

/// ln(1 + eˣ). NaN stays NaN.
double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }

/// [N, H] → [H, N].
Tensor heads_by_tokens(const Tensor& rows) {
  Tensor result({rows.extent(1), rows.extent(0)});
  result.matrix() = rows.matrix().transpose();
  return result;
}

}  // namespace

void ShortConvolution::apply(Tensor& rows) const {
  const std::int64_t tokens = rows.extent(0), channels = rows.extent(1), taps = kernels.extent(1);
  const Matrix by_tap = kernels.matrix().transpose();
  Tensor result = Tensor::unfilled({tokens, channels});
  tbb::parallel_for(std::int64_t{0}, tokens, [&](std::int64_t token) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(channels);
    if (!bias.empty()) {
      sum = Eigen::Map<const Eigen::RowVectorXf>(bias.data(), channels).cast<double>();
    }
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t from = token - taps + 1 + tap;
      if (from < 0) continue;
      sum.array() += std::as_const(rows).matrix().row(from).cast<double>().array() *
                     by_tap.row(tap).cast<double>().array();
    }
    result.matrix().row(token) = sum.cast<float>();
  });
  apply_activation(Activation::silu, result.values());
  rows = std::move(result);
}

void RecurrentGates::add(ConstMatrixMap tokens, std::int64_t heads,
                         NamedTensors& parameters) const {
  if (beta) {
    Tensor strengths = (*beta)(tokens);
    sigmoid(strengths.data(), strengths.size(), strengths.data());
    parameters.emplace("beta", heads_by_tokens(strengths));
  }
  if (!decay) return;
  const Tensor narrow = hidden ? (*hidden)(tokens) : Tensor();
  Tensor logarithms = (*decay)(hidden ? seen(narrow) : tokens);
  if (form == DecayGate::softplus) {
    for (float& value : logarithms.values()) {
      value = static_cast<float>(softplus(static_cast<double>(value)));
    }
    Tensor steps = heads_by_tokens(logarithms);
    Tensor decays = steps;
    for (std::int64_t head = 0; head < heads; ++head) {
      const double speed = std::exp(static_cast<double>(rate[static_cast<std::size_t>(head)]));
      decays.matrix().row(head) *= -static_cast<float>(speed);
    }
    parameters.emplace("step", std::move(steps));
    parameters.emplace("log_decay", std::move(decays));
    return;
  }
  for (float& value : logarithms.values()) {
    value = static_cast<float>(-softplus(-static_cast<double>(value)) / divisor);
  }
  const std::int64_t width = logarithms.extent(1) / heads;
  Tensor by_channel = Tensor::unfilled({heads, logarithms.extent(0), width});
  for (std::int64_t head = 0; head < heads; ++head) {
    by_channel.slice(head) = seen(logarithms).middleCols(head * width, width);
  }
  parameters.emplace("log_decay", std::move(by_channel));
}

void apply_gate(OutputGate form, Tensor gate, Tensor& output) {
  if (form == OutputGate::sigmoid) {
    sigmoid(gate.data(), gate.size(), gate.data());
  } else {
    apply_activation(Activation::silu, gate.values());
  }
  output.matrix().array() *= seen(gate).array();
}

}  // namespace attnscope
