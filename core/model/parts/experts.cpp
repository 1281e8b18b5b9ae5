#include "core/model/parts/experts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/attention/kernels/exponentials.h"
#include "core/attention/kernels/softmax_rows.h"

namespace attnscope {

namespace {

/// Replaces each token's logits by scores.
void to_scores(ExpertScore score, Tensor& logits) {
  if (score == ExpertScore::sigmoid) {
    sigmoid(logits.data(), logits.size(), logits.data());
  } else {
    const std::int64_t experts = logits.extent(1);
    softmax_rows({logits.data(), logits.extent(0), experts, Eigen::OuterStride<>(experts)});
  }
}

constexpr float kHiddenScore = -std::numeric_limits<float>::infinity();

/// Sorts numbers by their values, the greatest first. NaN counts as least.
void sort_falling(const Eigen::Ref<const Eigen::RowVectorXf>& values,
                  std::vector<std::int64_t>& order) {
  const auto key = [&](std::int64_t i) { return std::isnan(values[i]) ? kHiddenScore : values[i]; };
  std::ranges::stable_sort(order, std::greater(), key);
}

/// Numbers of the `count` greatest of `values`, the greatest first.
std::vector<std::int64_t> greatest(const Eigen::Ref<const Eigen::RowVectorXf>& values,
                                   std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  sort_falling(values, order);
  order.resize(static_cast<std::size_t>(count));
  return order;
}

/// Hides the scores of all groups but the best.
void hide_groups(const Experts& experts, Eigen::RowVectorXf& scores) {
  const Eigen::Index each = scores.size() / experts.groups;
  Eigen::RowVectorXf sums = Eigen::RowVectorXf::Zero(experts.groups);
  for (Eigen::Index group = 0; group < experts.groups; ++group) {
    const Eigen::RowVectorXf own = scores.segment(group * each, each);
    for (const std::int64_t best : greatest(own, experts.group_best)) sums[group] += own[best];
  }
  Eigen::RowVectorXf kept = Eigen::RowVectorXf::Constant(scores.size(), kHiddenScore);
  for (const std::int64_t group : greatest(sums, experts.active_groups)) {
    kept.segment(group * each, each) = scores.segment(group * each, each);
  }
  scores = std::move(kept);
}

/// Numbers of a token's experts, from its scores, by falling score.
std::vector<std::int64_t> chosen_experts(const Experts& experts,
                                         const Eigen::Ref<const Eigen::RowVectorXf>& scores) {
  if (experts.groups == 1 && experts.corrections.empty()) return greatest(scores, experts.active);
  Eigen::RowVectorXf ranked = scores;
  if (!experts.corrections.empty()) {
    ranked += Eigen::Map<const Eigen::RowVectorXf>(experts.corrections.data(), ranked.size());
  }
  if (experts.groups > 1) hide_groups(experts, ranked);
  std::vector<std::int64_t> chosen = greatest(ranked, experts.active);
  sort_falling(scores, chosen);
  return chosen;
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
  Tensor scores = router(tokens);
  to_scores(score, scores);
  Routing routing{Tensor({tokens.rows(), active}), Tensor({tokens.rows(), active})};
  for (Eigen::Index token = 0; token < tokens.rows(); ++token) {
    const auto row = scores.matrix().row(token);
    const std::vector<std::int64_t> chosen = chosen_experts(*this, row);
    for (std::size_t place = 0; place < chosen.size(); ++place) {
      const auto column = static_cast<Eigen::Index>(place);
      routing.experts.matrix()(token, column) = static_cast<float>(chosen[place]);
      routing.weights.matrix()(token, column) = row[chosen[place]];
    }
    auto weights = routing.weights.matrix().row(token);
    if (sums_to_one) weights /= weights.sum();
    weights *= scale;
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
      Tensor gates = (*shared_gate)(tokens);
      sigmoid(gates.data(), gates.size(), gates.data());
      added.matrix().array().colwise() *= gates.matrix().col(0).array();
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
