#include "analysis/hash_codes/learning.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "core/attention/random_parameters.h"
#include "core/error.h"
#include "core/tensor/decompose.h"
#include "core/text/number_text.h"

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

/// Probability that a pair of `similar` is nearer than one of `others`, given the number of pairs
/// at each distance, with ties counted half; NaN if either is empty.
double area_under_curve(const std::vector<std::int64_t>& similar,
                        const std::vector<std::int64_t>& others) {
  double won = 0, all_similar = 0, farther = 0;
  for (std::size_t distance = similar.size(); distance-- > 0;) {
    const auto alike = static_cast<double>(similar[distance]);
    const auto other = static_cast<double>(others[distance]);
    won += alike * (farther + 0.5 * other);
    farther += other;
    all_similar += alike;
  }
  return all_similar > 0 && farther > 0 ? won / (all_similar * farther)
                                        : std::numeric_limits<double>::quiet_NaN();
}

using Eigen::VectorXd;

/// Position of one token in the examples: a key, or a query if queries differ from keys.
struct CodePlace {
  std::size_t example = 0;
  bool query = false;
  Eigen::Index row = 0;
};

/// Draws `supports` support samples from all tokens without repetition.
MatrixD draw_anchors(const std::vector<HashExample>& examples, std::int64_t supports,
                     std::uint32_t seed) {
  std::vector<CodePlace> places;
  for (std::size_t e = 0; e < examples.size(); ++e) {
    for (Eigen::Index i = 0; i < examples[e].keys.rows(); ++i) places.push_back({e, false, i});
    if (examples[e].shared) continue;
    for (Eigen::Index i = 0; i < examples[e].queries.rows(); ++i) places.push_back({e, true, i});
  }
  std::mt19937 random(seed);
  MatrixD anchors(supports, examples.front().keys.cols());
  for (std::int64_t a = 0; a < supports; ++a) {
    const auto first = static_cast<std::size_t>(a);
    std::swap(places[first], places[first + random() % (places.size() - first)]);
    const HashExample& example = examples[places[first].example];
    const MatrixD& tokens = places[first].query ? example.queries : example.keys;
    anchors.row(a) = tokens.row(places[first].row);
  }
  return anchors;
}

/// Precomputed data of one example.
struct Task {
  const SimilarPairs* pairs = nullptr;
  bool shared = false;
  MatrixD of_queries, of_keys;     // centred kernels g, [N, m] and [M, m]
  MatrixD query_codes, key_codes;  // codes of the bits learned so far, [N, b] and [M, b]

  [[nodiscard]] const MatrixD& queries() const { return shared ? of_keys : of_queries; }
};

/// Y y, or Yᵀ y if `transposed`.
VectorXd labels_times(const SimilarPairs& pairs, const VectorXd& y, bool transposed) {
  VectorXd product = VectorXd::Zero(transposed ? pairs.keys : pairs.queries);
  const auto add = [&](const std::vector<TokenPair>& list, double label) {
    for (const TokenPair& pair : list) {
      if (transposed) {
        product(pair.key) += label * y(pair.query);
      } else {
        product(pair.query) += label * y(pair.key);
      }
    }
  };
  add(pairs.similar, 1);
  add(pairs.dissimilar, -1);
  return product;
}

VectorXd hard_signs(const VectorXd& values) {
  return values.unaryExpr([](double value) { return value >= 0 ? 1.0 : -1.0; });
}

class Learner {
 public:
  Learner(const std::vector<HashExample>& examples, std::int64_t head,
          const HashLearningOptions& options, const Progress& progress)
      : options_(options), progress_(progress) {
    check(options);
    const std::int64_t tokens = examples.front().keys.rows();
    if (options.supports > tokens) {
      throw Error(ErrorKind::usage, "there are more supports than tokens")
          .about("hash supports")
          .expected("at most " + std::to_string(tokens))
          .found(std::to_string(options.supports));
    }
    const std::uint32_t seed = options.seed * 1000003U + static_cast<std::uint32_t>(head);
    learned_.function.kind = HashKind::learned;
    learned_.function.anchors = draw_anchors(examples, options.supports, seed);
    learned_.function.weights = NormalNumbers(seed + 1).matrix(options.bits, options.supports);
    make_tasks(examples);
  }

  LearnedHash learn() {
    learned_.error_before = error_of_random();
    if (options_.random_weights) {
      learned_.error_after = learned_.error_before;
      return std::move(learned_);
    }
    double error = 1;  // error without any bit, relative to ‖bY‖²
    MatrixD& weights = learned_.function.weights;
    for (std::int64_t bit = 0; bit < options_.bits; ++bit) {
      progress_.step(static_cast<double>(bit) / static_cast<double>(options_.bits));
      const VectorXd first = weights.row(bit);
      VectorXd best = first;
      double least = loss(first, bit);
      consider(first, bit, best, least);
      consider(spectral_start(bit), bit, best, least);
      weights.row(bit) = best;
      for (Task& task : tasks_) {
        task.query_codes.col(bit) = hard_signs(task.queries() * best);
        task.key_codes.col(bit) = hard_signs(task.of_keys * best);
      }
      // ‖h_q h_kᵀ − Y_r‖² = N M − 2 h_qᵀ Y_r h_k + ‖Y_r‖² (Eq. 14).
      error += (cells_ + 2 * least) / target_;
      learned_.error_by_bit.push_back(error);
    }
    learned_.error_after = error;
    return std::move(learned_);
  }

 private:
  void make_tasks(const std::vector<HashExample>& examples) {
    HashFunction& function = learned_.function;
    function.means = VectorXd::Zero(options_.supports);
    VectorXd sum = function.means;
    double count = 0;
    double first_bandwidth = 1;
    for (std::size_t e = 0; e < examples.size(); ++e) {
      const HashExample& example = examples[e];
      const MatrixD& seen = example.causal ? function.anchors : example.keys;
      function.bandwidth = mean_squared_distance(seen, function.anchors);
      if (e == 0) first_bandwidth = function.bandwidth;
      Task task{&example.pairs, example.shared, {}, centred_kernel(function, example.keys), {}, {}};
      sum += task.of_keys.colwise().sum().transpose();
      count += static_cast<double>(example.keys.rows());
      if (!example.shared) {
        task.of_queries = centred_kernel(function, example.queries);
        sum += task.of_queries.colwise().sum().transpose();
        count += static_cast<double>(example.queries.rows());
      }
      task.query_codes = MatrixD::Zero(example.pairs.queries, options_.bits);
      task.key_codes = MatrixD::Zero(example.pairs.keys, options_.bits);
      tokens_ += static_cast<double>(example.pairs.queries);
      cells_ += static_cast<double>(example.pairs.queries * example.pairs.keys);
      const double target = target_of(example.pairs);
      target_ += target;
      if (target > 0) {
        learned_.error_of_chance +=
            error_of_chance(example.pairs, options_.bits, example.shared) * target;
      }
      tasks_.push_back(std::move(task));
    }
    learned_.error_of_chance /= target_;
    function.bandwidth = first_bandwidth;
    function.means = sum / count;
    metric_ = MatrixD::Zero(options_.supports, options_.supports);
    labels_ = metric_;
    for (Task& task : tasks_) {
      task.of_keys.rowwise() -= function.means.transpose();
      if (!task.shared) task.of_queries.rowwise() -= function.means.transpose();
      metric_ +=
          task.queries().transpose() * task.queries() + task.of_keys.transpose() * task.of_keys;
      MatrixD labelled(task.pairs->queries, options_.supports);
      for (Eigen::Index a = 0; a < labelled.cols(); ++a) {
        labelled.col(a) = labels_times(*task.pairs, task.of_keys.col(a), false);
      }
      labels_ += static_cast<double>(options_.bits) * task.queries().transpose() * labelled;
    }
  }

  /// ‖bY‖² of one example.
  [[nodiscard]] double target_of(const SimilarPairs& pairs) const {
    return static_cast<double>(options_.bits * options_.bits) *
           static_cast<double>(pairs.similar.size() + pairs.dissimilar.size());
  }

  /// Y_r y, or Y_rᵀ y if `transposed`.
  [[nodiscard]] VectorXd residual_times(const Task& task, const VectorXd& y, std::int64_t bit,
                                        bool transposed) const {
    const MatrixD& left = transposed ? task.key_codes : task.query_codes;
    const MatrixD& right = transposed ? task.query_codes : task.key_codes;
    return static_cast<double>(options_.bits) * labels_times(*task.pairs, y, transposed) -
           left.leftCols(bit) * (right.leftCols(bit).transpose() * y);
  }

  /// −Σ h_qᵀ Y_r h_k with hard signs, over all examples.
  [[nodiscard]] double loss(const VectorXd& a, std::int64_t bit) const {
    double sum = 0;
    for (const Task& task : tasks_) {
      const VectorXd key = hard_signs(task.of_keys * a);
      const VectorXd query = task.shared ? key : hard_signs(task.of_queries * a);
      sum -= query.dot(residual_times(task, key, bit, false));
    }
    return sum;
  }

  /// Gradient of the relaxed loss per token.
  [[nodiscard]] VectorXd gradient(const VectorXd& a, std::int64_t bit) const {
    VectorXd sum = VectorXd::Zero(a.size());
    for (const Task& task : tasks_) {
      const auto relaxed = [](const VectorXd& z) -> VectorXd { return (z / 2).array().tanh(); };
      const auto slope = [](const VectorXd& y) -> VectorXd { return (1 - y.array().square()) / 2; };
      const VectorXd key = relaxed(task.of_keys * a);
      const VectorXd query = task.shared ? key : relaxed(task.of_queries * a);
      sum -= task.queries().transpose() *
             slope(query).cwiseProduct(residual_times(task, key, bit, false));
      sum -= task.of_keys.transpose() *
             slope(key).cwiseProduct(residual_times(task, query, bit, true));
    }
    return sum / tokens_;
  }

  /// Descends from `start` and updates `best` if the start or the end has a smaller loss.
  void consider(const VectorXd& start, std::int64_t bit, VectorXd& best, double& least) const {
    VectorXd a = start, velocity = VectorXd::Zero(a.size());
    const auto offer = [&] {
      const double found = loss(a, bit);
      if (found < least) {
        least = found;
        best = a;
      }
    };
    offer();
    for (std::int64_t step = 0; step < options_.steps; ++step) {
      if (progress_.cancelled()) throw Cancelled{};
      const VectorXd slope = gradient(a, bit);
      velocity = options_.momentum * velocity + slope;
      a -= options_.rate * (slope + options_.momentum * velocity);
    }
    offer();
  }

  [[nodiscard]] VectorXd spectral_start(std::int64_t bit) const {
    MatrixD wanted = labels_;
    for (const Task& task : tasks_) {
      wanted -= (task.queries().transpose() * task.query_codes.leftCols(bit)) *
                (task.of_keys.transpose() * task.key_codes.leftCols(bit)).transpose();
    }
    wanted = ((wanted + wanted.transpose()) / 2).eval();
    MatrixD metric = metric_;
    // Anchors are often nearly alike: without regularisation the metric is singular.
    metric.diagonal().array() +=
        1e-6 * metric_.trace() / static_cast<double>(metric_.rows()) + 1e-12;
    VectorXd a = symmetric_eigenpairs(wanted, metric).vectors.col(wanted.rows() - 1);
    Eigen::Index greatest = 0;
    a.cwiseAbs().maxCoeff(&greatest);
    if (a(greatest) < 0) a = -a;
    // g · a is scaled to the order of 1, where the relaxed sign has a slope.
    const double mean_square = a.dot(metric_ * a) / (2 * tokens_);
    return mean_square > 0 ? VectorXd(a / std::sqrt(mean_square)) : a;
  }

  /// Reconstruction error with the initial random weights.
  [[nodiscard]] double error_of_random() const {
    double error = 0;
    for (const Task& task : tasks_) {
      HashCodes queries, keys;
      const auto signs = [&](const MatrixD& kernel) -> Matrix {
        return (kernel * learned_.function.weights.transpose())
            .unaryExpr([](double value) { return value >= 0 ? 1.0 : -1.0; })
            .cast<float>();
      };
      queries.signs = signs(task.queries());
      keys.signs = signs(task.of_keys);
      error += reconstruction_error(queries, keys, *task.pairs) * target_of(*task.pairs) / target_;
    }
    return error;
  }

  const HashLearningOptions& options_;
  const Progress& progress_;
  LearnedHash learned_;
  std::vector<Task> tasks_;
  double tokens_ = 0, cells_ = 0, target_ = 0;
  MatrixD metric_, labels_;  // gᵀ g and b gᵀ Y g, [m, m]
};

}  // namespace

SimilarPairs similar_pairs(const ConstMatrixMap& attention, std::int64_t pairs) {
  if (pairs < 1 || 2 * pairs > attention.cols()) {
    throw Error(ErrorKind::usage, "the number of similar and dissimilar keys is out of range")
        .about("pairs")
        .expected("1 to " + std::to_string(attention.cols() / 2) + ", half of the keys")
        .found(std::to_string(pairs));
  }
  const bool causal = is_causal(attention);
  SimilarPairs labels{attention.rows(), attention.cols(), {}, {}, causal};
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
  using Counts = std::vector<std::int64_t>;
  const auto none = static_cast<std::size_t>(queries.bits()) + 1;
  const auto count = [&](Counts& counts, std::int64_t query, std::int64_t key) {
    if (query == key) return;
    ++counts[static_cast<std::size_t>(std::popcount(queries.words[static_cast<std::size_t>(query)] ^
                                                    keys.words[static_cast<std::size_t>(key)]))];
  };
  const auto histogram = [&](const std::vector<TokenPair>& list) {
    Counts counts(none);
    for (const TokenPair& pair : list) count(counts, pair.query, pair.key);
    return counts;
  };
  PairDistances distances{histogram(pairs.similar), histogram(pairs.dissimilar), 0, 0};
  distances.auc = area_under_curve(distances.similar, distances.dissimilar);
  Counts others(none);
  for (std::int64_t i = 0; i < pairs.queries; ++i) {
    const std::int64_t seen = pairs.causal ? i + 1 : pairs.keys;
    for (std::int64_t j = 0; j < seen; ++j) count(others, i, j);
  }
  for (std::size_t d = 0; d < none; ++d) others[d] -= distances.similar[d];
  distances.auc_against_all = area_under_curve(distances.similar, others);
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

double error_of_chance(const SimilarPairs& pairs, std::int64_t bits, bool shared) {
  const auto labels = static_cast<double>(pairs.similar.size() + pairs.dissimilar.size());
  if (labels == 0) return std::numeric_limits<double>::quiet_NaN();
  // A product of two independent codes has mean 0 and variance b; a token's with itself is b.
  const double same = shared ? static_cast<double>(pairs.queries) : 0;
  double labels_of_same = 0;
  if (shared) {
    for (const TokenPair& pair : pairs.similar) labels_of_same += pair.query == pair.key ? 1 : 0;
    for (const TokenPair& pair : pairs.dissimilar) labels_of_same -= pair.query == pair.key ? 1 : 0;
  }
  const double others = static_cast<double>(pairs.queries) * static_cast<double>(pairs.keys) - same;
  return 1 + (others / static_cast<double>(bits) + same - 2 * labels_of_same) / labels;
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

void check(const HashLearningOptions& options) {
  const auto need = [](const char* name, double value, double least, double most) {
    if (value >= least && value <= most) return;
    throw Error(ErrorKind::usage, "the setting is out of range")
        .about(name)
        .expected(std::to_string(static_cast<std::int64_t>(least)) + " to " +
                  std::to_string(static_cast<std::int64_t>(most)))
        .found(rounded_text(value, 12));
  };
  need("bits", static_cast<double>(options.bits), 1, 64);
  need("supports", static_cast<double>(options.supports), 1, 4096);
  need("pairs", static_cast<double>(options.pairs), 1, 1e6);
  need("steps", static_cast<double>(options.steps), 0, 1e6);
  need("rate", options.rate, 0, 1);
  need("momentum", options.momentum, 0, 1);
}

LearnedHash learn_hash(const std::vector<HashExample>& examples, std::int64_t head,
                       const HashLearningOptions& options, const Progress& progress) {
  if (examples.empty() || examples.front().keys.rows() == 0) {
    throw Error(ErrorKind::usage, "learning hash codes needs at least one input");
  }
  return Learner(examples, head, options, progress).learn();
}

}  // namespace attnscope
