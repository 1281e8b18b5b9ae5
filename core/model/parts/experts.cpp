#include "core/model/parts/experts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace attnscope {

namespace {

/// Softmax of a row of logits, in place.
void to_probabilities(Eigen::Ref<Eigen::RowVectorXf> row) {
  row = (row.array() - row.maxCoeff()).exp();
  row /= row.sum();
}

/// Numbers of the `count` greatest of `values`, the greatest first. NaN counts as least.
std::vector<std::int64_t> greatest(const Eigen::Ref<const Eigen::RowVectorXf>& values,
                                   std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto key = [&](std::int64_t i) { return std::isnan(values[i]) ? -1.0F : values[i]; };
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) { return key(a) > key(b); });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

/// The tokens of one expert, with its weight for each.
struct Share {
  std::vector<Eigen::Index> tokens;
  std::vector<float> weights;
};

std::vector<Share> by_expert(const Routing& routing, std::size_t experts) {
  std::vector<Share> shares(experts);
  const ConstMatrixMap numbers = seen(routing.experts), weights = seen(routing.weights);
  for (Eigen::Index token = 0; token < numbers.rows(); ++token) {
    for (Eigen::Index place = 0; place < numbers.cols(); ++place) {
      Share& share = shares[static_cast<std::size_t>(numbers(token, place))];
      share.tokens.push_back(token);
      share.weights.push_back(weights(token, place));
    }
  }
  return shares;
}

}  // namespace

Routing Experts::route(ConstMatrixMap tokens) const {
  Tensor probabilities = router(tokens);
  Routing routing{Tensor({tokens.rows(), active}), Tensor({tokens.rows(), active})};
  for (Eigen::Index token = 0; token < tokens.rows(); ++token) {
    const auto row = probabilities.matrix().row(token);
    to_probabilities(row);
    const std::vector<std::int64_t> chosen = greatest(row, active);
    for (std::size_t place = 0; place < chosen.size(); ++place) {
      const auto column = static_cast<Eigen::Index>(place);
      routing.experts.matrix()(token, column) = static_cast<float>(chosen[place]);
      routing.weights.matrix()(token, column) = row[chosen[place]];
    }
    if (sums_to_one)
      routing.weights.matrix().row(token) /= routing.weights.matrix().row(token).sum();
  }
  return routing;
}

Tensor Experts::operator()(ConstMatrixMap tokens, NamedTensors* recorded) const {
  Routing routing = route(tokens);
  Tensor output({tokens.rows(), tokens.cols()}), loads({std::ssize(mlps)});
  const std::vector<Share> shares = by_expert(routing, mlps.size());
  for (std::size_t expert = 0; expert < mlps.size(); ++expert) {
    const Share& share = shares[expert];
    loads.values()[expert] = static_cast<float>(share.tokens.size());
    if (share.tokens.empty()) continue;
    Tensor taken = Tensor::unfilled({std::ssize(share.tokens), tokens.cols()});
    taken.matrix() = tokens(share.tokens, Eigen::all);
    const Tensor result = mlps[expert](seen(taken), {});
    for (std::size_t i = 0; i < share.tokens.size(); ++i) {
      output.matrix().row(share.tokens[i]) +=
          share.weights[i] * result.matrix().row(static_cast<Eigen::Index>(i));
    }
  }
  if (shared) {
    Tensor added = (*shared)(tokens, {});
    if (shared_gate) {
      const Tensor logits = (*shared_gate)(tokens);
      const Eigen::ArrayXf gates = 1 / (1 + (-logits.matrix().col(0).array()).exp());
      added.matrix().array().colwise() *= gates;
    }
    output.matrix() += added.matrix();
  }
  if (recorded) {
    recorded->insert_or_assign(kExpertNumbers, std::move(routing.experts));
    recorded->insert_or_assign(kExpertWeights, std::move(routing.weights));
    recorded->insert_or_assign(kExpertLoads, std::move(loads));
  }
  return output;
}

}  // namespace attnscope
