#include "analysis/baselines/known_maps.h"

#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/attention/random_parameters.h"

namespace attnscope {

namespace {

/// Fisher and Yates's shuffle of 0 … count − 1. std::shuffle differs between standard libraries.
std::vector<Eigen::Index> drawn_permutation(Eigen::Index count) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::mt19937 random(1);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

}  // namespace

MatrixD known_map(KnownMap map, std::int64_t tokens) {
  MatrixD weights = MatrixD::Zero(tokens, tokens);
  switch (map) {
    case KnownMap::identity:
      weights.setIdentity();
      break;
    case KnownMap::uniform:
      weights.setConstant(1 / static_cast<double>(tokens));
      break;
    case KnownMap::sink:
      weights.col(0).setOnes();
      break;
    case KnownMap::permutation: {
      const std::vector<Eigen::Index> order = drawn_permutation(tokens);
      for (std::size_t i = 0; i < order.size(); ++i) {
        weights(static_cast<Eigen::Index>(i), order[i]) = 1;
      }
      break;
    }
    case KnownMap::causal:
      for (Eigen::Index i = 0; i < tokens; ++i) {
        weights.row(i).head(i + 1).setConstant(1 / static_cast<double>(i + 1));
      }
      break;
    case KnownMap::random:
      weights = NormalNumbers(1).matrix(tokens, tokens).array().exp();
      for (Eigen::Index i = 0; i < tokens; ++i) weights.row(i) /= weights.row(i).sum();
      break;
  }
  return weights;
}

}  // namespace attnscope
