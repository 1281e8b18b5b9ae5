#include "analysis/hash_codes/similar_pairs.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

/// True for a square map of at least 2 tokens in which no query attends to a later key.
bool is_causal(const ConstMatrixMap& attention) {
  if (attention.rows() != attention.cols() || attention.rows() < 2) return false;
  for (Eigen::Index i = 0; i < attention.rows(); ++i) {
    for (Eigen::Index j = i + 1; j < attention.cols(); ++j) {
      if (attention(i, j) != 0.0F) return false;
    }
  }
  return true;
}

void add(std::vector<TokenPair>& pairs, Eigen::Index query, std::vector<std::int32_t> keys) {
  std::sort(keys.begin(), keys.end());
  for (const std::int32_t key : keys) pairs.push_back({static_cast<std::int32_t>(query), key});
}

}  // namespace

SimilarPairs similar_pairs(const ConstMatrixMap& attention, std::int64_t pairs) {
  if (pairs < 1 || 2 * pairs > attention.cols()) {
    throw Error(ErrorKind::usage, "the number of similar and dissimilar keys is out of range")
        .about("pairs")
        .expected("1 to " + std::to_string(attention.cols() / 2) + ", half of the keys")
        .found(std::to_string(pairs));
  }
  const bool causal = is_causal(attention);
  SimilarPairs labels{attention.rows(), attention.cols(), {}, {}};
  std::vector<std::int32_t> order;
  for (Eigen::Index i = 0; i < attention.rows(); ++i) {
    const std::int64_t seen = causal ? i + 1 : attention.cols();
    const std::int64_t each = std::min(pairs, seen / 2);
    order.resize(static_cast<std::size_t>(seen));
    std::iota(order.begin(), order.end(), 0);
    const auto more = [&](std::int32_t a, std::int32_t b) {
      return attention(i, a) != attention(i, b) ? attention(i, a) > attention(i, b) : a < b;
    };
    const auto less = [&](std::int32_t a, std::int32_t b) {
      return attention(i, a) != attention(i, b) ? attention(i, a) < attention(i, b) : a < b;
    };
    std::nth_element(order.begin(), order.begin() + each, order.end(), more);
    add(labels.similar, i, {order.begin(), order.begin() + each});
    // Dissimilar keys come from the remaining ones: no pair is both.
    std::nth_element(order.begin() + each, order.begin() + 2 * each, order.end(), less);
    add(labels.dissimilar, i, {order.begin() + each, order.begin() + 2 * each});
  }
  return labels;
}

PairDistances pair_distances(const HashCodes& queries, const HashCodes& keys,
                             const SimilarPairs& pairs) {
  const auto histogram = [&](const std::vector<TokenPair>& list) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(queries.bits()) + 1);
    for (const TokenPair& pair : list) {
      if (pair.query == pair.key) continue;
      ++counts[static_cast<std::size_t>(
          std::popcount(queries.words[static_cast<std::size_t>(pair.query)] ^
                        keys.words[static_cast<std::size_t>(pair.key)]))];
    }
    return counts;
  };
  PairDistances distances{histogram(pairs.similar), histogram(pairs.dissimilar), 0};
  double won = 0, all_similar = 0, farther = 0;
  for (std::size_t distance = distances.similar.size(); distance-- > 0;) {
    const auto alike = static_cast<double>(distances.similar[distance]);
    const auto other = static_cast<double>(distances.dissimilar[distance]);
    won += alike * (farther + 0.5 * other);
    farther += other;
    all_similar += alike;
  }
  distances.auc = all_similar > 0 && farther > 0 ? won / (all_similar * farther)
                                                 : std::numeric_limits<double>::quiet_NaN();
  return distances;
}

double reconstruction_error(const HashCodes& queries, const HashCodes& keys,
                            const SimilarPairs& pairs) {
  const MatrixD of_queries = queries.signs.cast<double>().cwiseSign();
  const MatrixD of_keys = keys.signs.cast<double>().cwiseSign();
  const MatrixD left = of_queries.transpose() * of_queries;
  const MatrixD right = of_keys.transpose() * of_keys;
  double error = left.cwiseProduct(right).sum();
  const auto bits = static_cast<double>(queries.bits());
  const auto add_pairs = [&](const std::vector<TokenPair>& list, double label) {
    for (const TokenPair& pair : list) {
      error -= 2 * bits * label * of_queries.row(pair.query).dot(of_keys.row(pair.key));
    }
  };
  add_pairs(pairs.similar, 1);
  add_pairs(pairs.dissimilar, -1);
  const double target =
      bits * bits * static_cast<double>(pairs.similar.size() + pairs.dissimilar.size());
  return target > 0 ? error / target + 1 : std::numeric_limits<double>::quiet_NaN();
}

Matrix affinities(const HashCodes& queries, const HashCodes& keys) {
  Matrix products = queries.signs * keys.signs.transpose();
  for (std::size_t i = 0; i < queries.scales.size(); ++i) {
    products.row(static_cast<Eigen::Index>(i)) *= queries.scales[i];
  }
  for (std::size_t j = 0; j < keys.scales.size(); ++j) {
    products.col(static_cast<Eigen::Index>(j)) *= keys.scales[j];
  }
  return products;
}

}  // namespace attnscope
