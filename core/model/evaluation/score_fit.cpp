#include "core/model/evaluation/score_fit.h"

#include <algorithm>
#include <cmath>

#include "core/model/parts/score_bias.h"

namespace attnscope {

namespace {

constexpr std::int64_t kMostRows = 256;
constexpr float kLeastWeight = 1e-30F;  // below it float32 has too few digits
constexpr double kUsualMaximum = 8;     // default maximum of ALiBi's slopes

Eigen::VectorXd centred(const Eigen::VectorXd& row) { return row.array() - row.mean(); }

}  // namespace

ScoreFit::ScoreFit(const std::vector<Tensor>& maps) {
  std::int64_t all = 0;
  for (const Tensor& map : maps) all += map.extent(0) * map.extent(1);
  const std::int64_t step = std::max<std::int64_t>(all / kMostRows, 1);
  std::int64_t number = 0;
  for (std::size_t input = 0; input < maps.size(); ++input) {
    const Tensor& map = maps[input];
    heads_ = map.extent(0);
    for (std::int64_t head = 0; head < heads_; ++head) {
      for (std::int64_t query = 0; query < map.extent(1); ++query) {
        if (number++ % step != 0) continue;
        Row row{input, head, query, {}, {}};
        std::vector<double> logarithms;
        for (std::int64_t key = 0; key < map.extent(2); ++key) {
          const float weight = map.slice(head)(query, key);
          if (!(weight > kLeastWeight)) continue;
          row.keys.push_back(key);
          logarithms.push_back(std::log(static_cast<double>(weight)));
        }
        if (row.keys.size() < 2) continue;
        row.logarithms = centred(Eigen::Map<const Eigen::VectorXd>(
            logarithms.data(), static_cast<Eigen::Index>(logarithms.size())));
        rows_.push_back(std::move(row));
      }
    }
  }
}

std::vector<Eigen::VectorXd> ScoreFit::products(const std::vector<ScoredVectors>& vectors) const {
  std::vector<Eigen::VectorXd> all;
  for (const Row& row : rows_) {
    const ScoredVectors& own = vectors[row.input];
    const std::int64_t key_head = row.head * own.keys.extent(0) / heads_;
    const Eigen::VectorXd query = own.queries.slice(row.head).row(row.query).cast<double>();
    Eigen::VectorXd products(std::ssize(row.keys));
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
      products(static_cast<Eigen::Index>(i)) =
          own.keys.slice(key_head).row(row.keys[i]).cast<double>().dot(query);
    }
    all.push_back(std::move(products));
  }
  return all;
}

/// Fits the scale by least squares.
ScoreForm ScoreFit::solved(const std::vector<Eigen::VectorXd>& products, bool alibi) const {
  const std::vector<double> slopes = alibi_slopes(heads_, kUsualMaximum);
  double xx = 0, xy = 0, yy = 0, whole = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    Eigen::VectorXd wanted = row.logarithms;
    whole += wanted.squaredNorm();
    for (Eigen::Index key = 0; alibi && key < wanted.size(); ++key) {
      const std::int64_t away = std::abs(row.query - row.keys[static_cast<std::size_t>(key)]);
      wanted(key) += slopes[static_cast<std::size_t>(row.head)] * static_cast<double>(away);
    }
    wanted = centred(wanted);
    const Eigen::VectorXd given = centred(products[i]);
    xx += given.squaredNorm();
    xy += given.dot(wanted);
    yy += wanted.squaredNorm();
  }
  ScoreForm form;
  form.alibi = alibi;
  form.scale = xx > 0 ? xy / xx : 0;
  const double left = std::max(yy - form.scale * xy, 0.0);
  form.error = whole > 0 ? std::sqrt(left / whole) : 0;
  return form;
}

double ScoreFit::error_of(const std::vector<Eigen::VectorXd>& products, double scale,
                          double cap) const {
  double left = 0, whole = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Eigen::VectorXd bounded = cap * (products[i] * (scale / cap)).array().tanh();
    left += (centred(bounded) - rows_[i].logarithms).squaredNorm();
    whole += rows_[i].logarithms.squaredNorm();
  }
  return whole > 0 ? std::sqrt(left / whole) : 0;
}

std::vector<ScoreForm> ScoreFit::forms(const std::vector<ScoredVectors>& vectors,
                                       const std::vector<double>& usual, bool may_add,
                                       bool may_cap) const {
  const std::vector<Eigen::VectorXd> scores = products(vectors);
  std::vector<ScoreForm> found = {solved(scores, false)};
  if (may_add) found.push_back(solved(scores, true));
  for (const double scale : usual) {
    if (!may_cap) break;
    // Caps from 0.5 to 200 are searched on a logarithmic grid, then around its best point.
    constexpr int steps = 48;
    const double first = std::log(0.5), step = (std::log(200.0) - first) / steps;
    double best = first, least = error_of(scores, scale, std::exp(first));
    for (int i = 1; i <= steps; ++i) {
      const double at = first + i * step, error = error_of(scores, scale, std::exp(at));
      if (error < least) {
        least = error;
        best = at;
      }
    }
    for (double width = step; width > 1e-9; width *= 0.6) {
      for (const double at : {best - width, best + width}) {
        const double error = error_of(scores, scale, std::exp(at));
        if (error >= least) continue;
        least = error;
        best = at;
      }
    }
    found.push_back({scale, std::exp(best), false, least});
  }
  std::ranges::stable_sort(found, {}, &ScoreForm::error);
  return found;
}

}  // namespace attnscope
