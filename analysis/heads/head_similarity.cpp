#include "analysis/heads/head_similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tbb/parallel_for.h>

#include "analysis/heads/row_weights.h"
#include "analysis/spectrum/map_batch.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Normalises a map once, so that each pair of heads needs a single pass over two maps.
MatrixD prepared(MatrixD map, HeadLikeness likeness) {
  if (likeness == HeadLikeness::cosine) {
    for (Eigen::Index column = 0; column < map.cols(); ++column) {
      const double norm = map.col(column).norm();
      if (norm > 0) map.col(column) /= norm;
    }
    return map;
  }
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    const double sum = map.row(row).sum();
    if (sum > 0) map.row(row) /= sum;
  }
  return map;
}

/// Mean column cosine over the keys that some query of either map sees; NaN without such keys.
double mean_cosine(const MatrixD& a, const MatrixD& b) {
  double sum = 0;
  Eigen::Index counted = 0;
  for (Eigen::Index column = 0; column < a.cols(); ++column) {
    const bool first = (a.col(column).array() != 0).any();
    const bool second = (b.col(column).array() != 0).any();
    if (!first && !second) continue;
    sum += a.col(column).dot(b.col(column));
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted)
                     : std::numeric_limits<double>::quiet_NaN();
}

/// 1 − mean divergence in bits, over queries that attend to some key in both maps.
double divergence_likeness(const MatrixD& a, const MatrixD& b) {
  const auto term = [](double p, double mean) { return p > 0 ? p * std::log2(p / mean) : 0.0; };
  double sum = 0;
  Eigen::Index counted = 0;
  for (Eigen::Index row = 0; row < a.rows(); ++row) {
    if (!(a.row(row).array() > 0).any() || !(b.row(row).array() > 0).any()) continue;
    double divergence = 0;
    for (Eigen::Index column = 0; column < a.cols(); ++column) {
      const double p = a(row, column), q = b(row, column), mean = (p + q) / 2;
      divergence += (term(p, mean) + term(q, mean)) / 2;
    }
    sum += divergence;
    ++counted;
  }
  return counted > 0 ? 1 - sum / static_cast<double>(counted)
                     : std::numeric_limits<double>::quiet_NaN();
}

bool can_be_compared(const MatrixD& map, HeadLikeness likeness) {
  if (likeness == HeadLikeness::cosine) return map.array().isFinite().all();
  return state_of(map) == HeadState::ready;
}

/// Average linkage (UPGMA): merges the two nearest clusters until one remains.
class Linkage {
 public:
  explicit Linkage(const MatrixD& similarity) : distances_(1 - similarity.array()) {
    for (Eigen::Index i = 0; i < similarity.rows(); ++i) {
      clusters_.push_back({static_cast<std::int64_t>(i), {static_cast<std::int64_t>(i)}});
    }
  }

  void run(HeadSimilarity& result) {
    const auto heads = std::ssize(clusters_);
    while (clusters_.size() > 1) {
      const auto [first, second] = nearest();
      Cluster& a = clusters_[first];
      const Cluster& b = clusters_[second];
      HeadSimilarity::Join join{.first = std::min(a.number, b.number),
                                .second = std::max(a.number, b.number),
                                .distance = mean_distance(a, b),
                                .size = std::ssize(a.members) + std::ssize(b.members)};
      a.number = heads + std::ssize(result.joins);
      a.members.insert(a.members.end(), b.members.begin(), b.members.end());
      clusters_.erase(clusters_.begin() + static_cast<std::ptrdiff_t>(second));
      result.joins.push_back(join);
    }
    if (!clusters_.empty()) result.clustered = clusters_.front().members;
  }

 private:
  struct Cluster {
    std::int64_t number = 0;
    std::vector<std::int64_t> members;
  };

  [[nodiscard]] double mean_distance(const Cluster& a, const Cluster& b) const {
    double sum = 0;
    for (const std::int64_t i : a.members) {
      for (const std::int64_t j : b.members) sum += distances_(i, j);
    }
    return sum / (static_cast<double>(a.members.size()) * static_cast<double>(b.members.size()));
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> nearest() const {
    std::pair<std::size_t, std::size_t> found{0, 1};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      for (std::size_t j = i + 1; j < clusters_.size(); ++j) {
        const double distance = mean_distance(clusters_[i], clusters_[j]);
        if (distance < least) {
          least = distance;
          found = {i, j};
        }
      }
    }
    return found;
  }

  Eigen::ArrayXXd distances_;
  std::vector<Cluster> clusters_;
};

}  // namespace

HeadSimilarity head_similarity(const Trace& trace, HeadLikeness likeness,
                               const Progress& progress) {
  HeadSimilarity result;
  std::vector<MatrixD> maps;
  std::int64_t rows = 0, columns = 0;
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    const ImpliedMaps& recorded = trace.layers[static_cast<std::size_t>(layer)].implied_map;
    if (recorded.empty()) continue;
    if (maps.empty()) {
      rows = recorded.extent(1);
      columns = recorded.extent(2);
    }
    if (recorded.extent(1) != rows || recorded.extent(2) != columns) {
      throw Error(ErrorKind::usage, "maps of different shapes cannot be compared")
          .about("layer " + std::to_string(layer))
          .expected(to_string(Shape{recorded.extent(0), rows, columns}))
          .found(to_string(recorded.shape()));
    }
    for (std::int64_t head = 0; head < recorded.extent(0); ++head) {
      MatrixD map = map_seen(trace, {layer, head}, IdentityView::without);
      if (!can_be_compared(map, likeness)) continue;
      result.heads.emplace_back(layer, head);
      maps.push_back(prepared(std::move(map), likeness));
    }
  }
  if (maps.empty()) {
    throw Error(ErrorKind::usage, "no maps were recorded that could be compared");
  }
  const auto count = static_cast<Eigen::Index>(maps.size());
  result.similarity = MatrixD::Identity(count, count);
  progress.step(0, "similarity of heads");
  tbb::parallel_for(Eigen::Index{0}, count, [&](Eigen::Index i) {
    if (progress.cancelled()) throw Cancelled{};
    for (Eigen::Index j = 0; j < i; ++j) {
      const MatrixD& a = maps[static_cast<std::size_t>(i)];
      const MatrixD& b = maps[static_cast<std::size_t>(j)];
      result.similarity(i, j) =
          likeness == HeadLikeness::cosine ? mean_cosine(a, b) : divergence_likeness(a, b);
    }
  });
  result.similarity.triangularView<Eigen::StrictlyUpper>() =
      result.similarity.transpose().triangularView<Eigen::StrictlyUpper>();
  Linkage(result.similarity).run(result);
  progress.step(1, "similarity of heads");
  return result;
}

}  // namespace attnscope
