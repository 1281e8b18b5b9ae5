#include "analysis/head_steps/head_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "analysis/features/features.h"
#include "core/error.h"
#include "core/parameters/typed_values.h"
#include "core/tensor/decompose.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Place {
  const Trace& trace;
  const LayerTrace& layer;
  std::int64_t index, head, query;

  [[nodiscard]] const MechanismChoice& mechanism() const { return mechanism_of(trace, layer); }
  [[nodiscard]] const Tensor* quantity(std::string_view name) const {
    const auto found = layer.quantities.find(name);
    return found == layer.quantities.end() ? nullptr : &found->second;
  }
  /// Number of keys that the query sees: those up to itself in a causal square map.
  [[nodiscard]] std::int64_t seen() const {
    const std::int64_t keys = layer.implied_map.extent(2);
    return trace.causal && layer.implied_map.extent(1) == keys ? query + 1 : keys;
  }
};

Place place_of(const Trace& trace, std::int64_t layer, std::int64_t head, std::int64_t query) {
  const bool exists = layer >= 0 && layer < std::ssize(trace.layers);
  if (!exists || trace.layers[static_cast<std::size_t>(layer)].implied_map.empty()) {
    throw Error(ErrorKind::usage, "the layer's maps were not recorded")
        .about("layer " + std::to_string(layer));
  }
  const LayerTrace& recorded = trace.layers[static_cast<std::size_t>(layer)];
  const Shape& shape = recorded.implied_map.shape();
  if (head < 0 || head >= shape[0] || query < 0 || query >= shape[1]) {
    throw Error(ErrorKind::usage, "the layer has no such head or query")
        .about(layer_name(trace, layer))
        .expected("head 0 to " + std::to_string(shape[0] - 1) + ", query 0 to " +
                  std::to_string(shape[1] - 1))
        .found("head " + std::to_string(head) + ", query " + std::to_string(query));
  }
  return {trace, recorded, layer, head, query};
}

/// Index of the key and value head that the query head uses, if heads share them.
std::int64_t shared_head(const Tensor& shared, const Place& place) {
  return place.head * shared.extent(0) / place.layer.implied_map.extent(0);
}

void take_vectors(const Place& place, HeadSteps& steps) {
  const LayerTrace& layer = place.layer;
  if (layer.queries.empty() || layer.keys.empty()) return;
  const auto row = layer.queries.slice(place.head).row(place.query);
  steps.query.assign(row.data(), row.data() + row.size());
  steps.keys = layer.keys.slice(shared_head(layer.keys, place));
}

void score_products(const Place& place, HeadSteps& steps) {
  take_vectors(place, steps);
  if (steps.query.empty() || steps.keys.cols() != std::ssize(steps.query)) return;
  const auto width = static_cast<double>(steps.query.size());
  if (place.mechanism().name == "adder") {
    steps.score_of = ScoreOf::distance;
    steps.factor = 1 / std::sqrt(2 * width * (1 - 2 / std::numbers::pi));
    steps.factor_words = "1/√d_a";
  } else {
    steps.score_of = ScoreOf::product;
    const double usual = 1 / std::sqrt(width);
    steps.factor = place.layer.score_scale.value_or(usual);
    steps.factor_words = steps.factor == usual ? "1/√d" : "the model's own scale";
  }
}

void score_codes(const Place& place, HeadSteps& steps) {
  const Tensor* const queries = place.quantity("codes");
  const Tensor* const keys = place.quantity("key_codes");
  if (!queries || !keys) return;
  const auto row = queries->slice(place.head).row(place.query);
  steps.query.assign(row.data(), row.data() + row.size());
  steps.keys = keys->slice(shared_head(*keys, place));
  steps.score_of = ScoreOf::codes;
  steps.softmax = false;
  steps.offset =
      static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(steps.query.size()) + 1));
}

void score_importance(const Place& place, HeadSteps& steps) {
  const Tensor* const logits = place.quantity("logits");
  if (!logits) return;
  steps.score_of = ScoreOf::importance;
  const auto row = logits->matrix().row(place.head);
  for (Eigen::Index key = 0; key < row.size(); ++key) {
    steps.raw.push_back(static_cast<double>(row(key)));
  }
}

void score_key_logits(const Place& place, HeadSteps& steps) {
  const Tensor* const logits = place.quantity("key_logits");
  const Tensor* const bias = place.quantity("position_bias");
  if (!logits || place.layer.queries.empty()) return;
  const std::int64_t width = place.layer.queries.extent(2);
  const std::int64_t heads = place.layer.implied_map.extent(0);
  const std::int64_t channels = logits->extent(0);
  const std::int64_t own = place.trace.map_channel.value_or(0);
  const std::int64_t channel = place.head * width + own;
  if (channels != heads * width) return;
  steps.score_of = ScoreOf::key_logits;
  steps.channel = own;
  const std::int64_t bias_head = bias ? channel * bias->extent(0) / channels : 0;
  for (std::int64_t key = 0; key < logits->extent(1); ++key) {
    double score = static_cast<double>(logits->matrix()(channel, key));
    if (bias) score += static_cast<double>(bias->slice(bias_head)(place.query, key));
    steps.raw.push_back(score);
  }
  const TypedValues settings(place.mechanism().parameters);
  if (settings.has("gate") && !settings.flag("gate")) return;
  const auto q = static_cast<double>(place.layer.queries.slice(place.head)(place.query, own));
  steps.gate = 1 / (1 + std::exp(-q));
}

std::vector<double> normalised(const HeadSteps& steps) {
  std::vector<double> weights(steps.scores.size(), 0.0);
  const double greatest = *std::ranges::max_element(steps.scores);
  double sum = 0;
  for (std::size_t key = 0; key < weights.size(); ++key) {
    if (steps.scores[key] == kNever) continue;
    weights[key] = steps.softmax ? std::exp(steps.scores[key] - greatest) : steps.scores[key];
    sum += weights[key];
  }
  for (double& weight : weights) weight *= steps.gate.value_or(1) / sum;
  return weights;
}

void add_scores(const Place& place, HeadSteps& steps) {
  const auto keys = static_cast<std::int64_t>(steps.weights.size());
  if (steps.raw.empty() && !steps.query.empty()) {
    for (std::int64_t key = 0; key < keys; ++key) {
      const std::vector<double> terms = steps.terms(key);
      steps.raw.push_back(std::accumulate(terms.begin(), terms.end(), 0.0));
    }
  }
  if (std::ssize(steps.raw) != keys) {
    steps.score_of = ScoreOf::unknown;
    steps.raw.clear();
    return;
  }
  const std::int64_t seen = place.seen();
  for (std::int64_t key = 0; key < keys; ++key) {
    const double score = steps.raw[static_cast<std::size_t>(key)] * steps.factor + steps.offset;
    steps.scores.push_back(key < seen ? score : kNever);
  }
  steps.recomputed = normalised(steps);
  for (std::size_t key = 0; key < steps.weights.size(); ++key) {
    const double away = std::abs(steps.recomputed[key] - steps.weights[key]);
    steps.difference = std::max(steps.difference, std::isnan(away) ? 1.0 : away);
  }
}

void add_output(const Place& place, HeadSteps& steps) {
  // A mean over channels has no output of one channel.
  if (place.layer.values.empty() || (place.trace.map_channels > 1 && !place.trace.map_channel)) {
    return;
  }
  steps.values = place.layer.values.slice(shared_head(place.layer.values, place));
  if (steps.values.rows() != std::ssize(steps.weights)) {
    steps.values.resize(0, 0);
    return;
  }
  if (steps.channel >= 0) steps.values = Matrix(steps.values.col(steps.channel));
  steps.output.assign(static_cast<std::size_t>(steps.values.cols()), 0.0);
  for (Eigen::Index key = 0; key < steps.values.rows(); ++key) {
    double weight = steps.weights[static_cast<std::size_t>(key)];
    if (steps.identity && key == place.query) weight += 1;
    for (Eigen::Index channel = 0; channel < steps.values.cols(); ++channel) {
      steps.output[static_cast<std::size_t>(channel)] +=
          weight * static_cast<double>(steps.values(key, channel));
    }
  }
}

}  // namespace

std::vector<double> HeadSteps::terms(std::int64_t key) const {
  std::vector<double> terms;
  for (std::size_t channel = 0; channel < query.size(); ++channel) {
    const auto q = static_cast<double>(query[channel]);
    const auto k = static_cast<double>(keys(key, static_cast<Eigen::Index>(channel)));
    terms.push_back(score_of == ScoreOf::distance ? -std::abs(q - k) : q * k);
  }
  return terms;
}

HeadSteps head_steps(const Trace& trace, std::int64_t layer, std::int64_t head,
                     std::int64_t query) {
  const Place place = place_of(trace, layer, head, query);
  HeadSteps steps;
  const ImpliedMaps& maps = place.layer.implied_map;
  const Eigen::RowVectorXf weights = maps.row(head, query);
  steps.identity = has_identity(trace, layer);
  for (Eigen::Index key = 0; key < weights.size(); ++key) {
    const double own = steps.identity && key == query ? 1 : 0;
    steps.weights.push_back(static_cast<double>(weights(key)) - own);
  }
  const std::string& name = place.mechanism().name;
  if (name == "softmax" || name == "adder") score_products(place, steps);
  if (name == "hash") score_codes(place, steps);
  if (name == "additive") score_importance(place, steps);
  if (name.starts_with("daft")) score_key_logits(place, steps);
  add_scores(place, steps);
  add_output(place, steps);
  return steps;
}

TokensInPlane tokens_in_plane(const Trace& trace, std::int64_t layer, std::int64_t head,
                              std::int64_t query, std::size_t most, double extent) {
  const Place place = place_of(trace, layer, head, query);
  TokensInPlane plane;
  const Tensor &queries = place.layer.queries, &keys = place.layer.keys;
  if (queries.empty() || keys.empty() || queries.extent(1) != keys.extent(1) ||
      queries.extent(2) != keys.extent(2)) {
    return plane;
  }
  const Eigen::RowVectorXf row = place.layer.implied_map.row(head, query);
  std::vector<std::int64_t> order(static_cast<std::size_t>(row.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    if ((a == query) != (b == query)) return a == query;
    return row(a) > row(b);
  });
  order.resize(std::min(most, order.size()));
  std::ranges::sort(order);
  const auto count = static_cast<Eigen::Index>(order.size());
  MatrixD both(2 * count, queries.extent(2));
  for (Eigen::Index i = 0; i < count; ++i) {
    const std::int64_t token = order[static_cast<std::size_t>(i)];
    both.row(i) = queries.slice(head).row(token).cast<double>();
    both.row(count + i) = keys.slice(shared_head(keys, place)).row(token).cast<double>();
  }
  if (!both.allFinite() || both.cols() < 2) return plane;
  MatrixD points = both * singular_vectors(both).right.leftCols(2);
  const double all = both.squaredNorm(), largest = points.cwiseAbs().maxCoeff();
  plane.share = all > 0 ? points.squaredNorm() / all : 0;
  if (largest > 0) points *= extent / largest;
  plane.tokens = order;
  for (Eigen::Index i = 0; i < count; ++i) {
    plane.query_x.push_back(points(i, 0));
    plane.query_y.push_back(points(i, 1));
    plane.key_x.push_back(points(count + i, 0));
    plane.key_y.push_back(points(count + i, 1));
  }
  return plane;
}

namespace {

bool holds_vectors(const LayerTrace& layer) {
  return !layer.queries.empty() && !layer.keys.empty() &&
         layer.queries.extent(2) == layer.keys.extent(2);
}

/// True if the weights follow from q·k or from a distance between q and k.
bool compares_vectors(const std::string& mechanism) {
  return mechanism == "adder" ||
         std::ranges::any_of(mechanisms(), [&](const MechanismEntry& entry) {
           return entry.name == mechanism && entry.scaled;
         });
}

/// Moves and scales queries and keys as QueryKeyPlane::balance says. Returns c.
double balance_vectors(MatrixD& queries, MatrixD& keys) {
  const Eigen::RowVectorXd query_mean = queries.colwise().mean(), key_mean = keys.colwise().mean();
  const double query_spread = (queries.rowwise() - query_mean).norm();
  const double key_spread = (keys.rowwise() - key_mean).norm();
  const bool spread = query_spread > 0 && key_spread > 0;
  const double square = spread ? key_spread / query_spread : 1, c = std::sqrt(square);
  const Eigen::RowVectorXd move = square * query_mean - key_mean;
  queries *= c;
  keys.rowwise() += move;
  keys /= c;
  return c;
}

}  // namespace

bool has_score_terms(const Trace& trace) {
  return std::ranges::any_of(trace.layers, [&](const LayerTrace& layer) {
    const std::string& name = mechanism_of(trace, layer).name;
    if (name == "hash") return layer.quantities.contains("codes");
    return (name == "softmax" || name == "adder") && holds_vectors(layer);
  });
}

bool has_queries_and_keys(const Trace& trace) {
  return std::ranges::any_of(trace.layers, [&](const LayerTrace& layer) {
    return holds_vectors(layer) && compares_vectors(mechanism_of(trace, layer).name);
  });
}

QueryKeyPlane query_key_plane(const Trace& trace, std::int64_t layer, std::int64_t head,
                              bool balanced) {
  const Place place = place_of(trace, layer, head, 0);
  const auto refuse = [&](const char* why, const char* expected) {
    throw Error(ErrorKind::usage, why)
        .about(layer_name(trace, layer))
        .expected(expected)
        .found(place.mechanism().name + " attention");
  };
  if (!compares_vectors(place.mechanism().name)) {
    refuse("the layer's attention does not compare queries with keys",
           "scores of q·k or distances");
  }
  if (!holds_vectors(place.layer)) {
    refuse("queries and keys of one width were not recorded", "a run that records them");
  }
  if (balanced && place.mechanism().name != "softmax") {
    refuse("only a softmax of q·k stays the same if keys are moved", "softmax attention");
  }
  MatrixD queries = place.layer.queries.slice(head).cast<double>();
  MatrixD keys = place.layer.keys.slice(shared_head(place.layer.keys, place)).cast<double>();
  QueryKeyPlane plane;
  if (balanced) plane.balance = balance_vectors(queries, keys);
  Tensor both({queries.rows() + keys.rows(), queries.cols()});
  both.matrix().topRows(queries.rows()) = queries.cast<float>();
  both.matrix().bottomRows(keys.rows()) = keys.cast<float>();
  const PrincipalPlane found = principal_plane(both);
  plane.share = found.share;
  const auto split = static_cast<std::ptrdiff_t>(queries.rows());
  plane.query_x.assign(found.x.begin(), found.x.begin() + split);
  plane.query_y.assign(found.y.begin(), found.y.begin() + split);
  plane.key_x.assign(found.x.begin() + split, found.x.end());
  plane.key_y.assign(found.y.begin() + split, found.y.end());
  return plane;
}

}  // namespace attnscope
