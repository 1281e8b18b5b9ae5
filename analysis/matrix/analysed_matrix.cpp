// Computes the analysed matrices from recorded maps, queries, keys, values and tokens.
#include "analysis/matrix/analysed_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "analysis/mixing/layer_inside.h"
#include "core/error.h"
#include "core/model/parts/rotary.h"
#include "core/tensor/decompose.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

[[noreturn]] void refuse(const Trace& trace, std::int64_t layer, const std::string& why,
                         const std::string& remedy) {
  throw Error(ErrorKind::usage, why).about(layer_name(trace, layer)).remedy(remedy);
}

const LayerTrace& layer_at(const Trace& trace, std::int64_t layer) {
  return trace.layers[static_cast<std::size_t>(layer)];
}

/// Rows of head `head` in [H', rows, columns], H' a divisor of the layer's number of heads.
MatrixD vectors_of(const Trace& trace, const MapIndex& place, const Tensor& all, std::int64_t rows,
                   const char* what) {
  if (all.empty()) {
    refuse(trace, place.layer, std::string("the trace holds no ") + what,
           "record them: attnscope trace --record qkv");
  }
  const std::int64_t heads = trace.heads(place.layer);
  if (!fit_heads(all, heads, rows)) {
    refuse(trace, place.layer, std::string("the recorded ") + what + " do not match the maps",
           "attnscope spectrum --of map needs only the maps");
  }
  return all.slice(place.head * all.extent(0) / heads).cast<double>();
}

MatrixD values_of(const Trace& trace, const MapIndex& place) {
  return vectors_of(trace, place, layer_at(trace, place.layer).values, trace.keys(place.layer),
                    "values");
}

MatrixD queries_at(const Trace& trace, const MapIndex& place) {
  return vectors_of(trace, place, layer_at(trace, place.layer).queries, trace.queries(place.layer),
                    "queries");
}

MatrixD keys_at(const Trace& trace, const MapIndex& place) {
  return vectors_of(trace, place, layer_at(trace, place.layer).keys, trace.keys(place.layer),
                    "keys");
}

/// The queries or keys [N, d] before their rotary positions.
MatrixD before_rotary(const Subject& subject, const MapIndex& place, const MatrixD& rotated) {
  require_model_and_trace(subject);
  const Trace& trace = *subject.trace;
  const Block& block = block_of(transformer_of(*subject.model), place.layer);
  if (block.spec.rotary.form == Rotary::none) {
    refuse(trace, place.layer, "the layer has no rotary positions", "--of queries or --of keys");
  }
  Tensor rows({rotated.rows(), rotated.cols()});
  rows.matrix() = rotated.cast<float>();
  const std::int64_t pieces = block.spec.attention.halves ? 2 : 1;
  RotaryTurns(block.spec.rotary, rotated.cols() / pieces, rotated.rows(),
              query_layout(trace, place.layer), block.attention.rotary_periods)
      .undo(rows, pieces);
  return rows.matrix().cast<double>();
}

void require_one_map(const Trace& trace, std::int64_t layer) {
  if (trace.map_channels <= 1) return;
  refuse(trace, layer, "each channel has its own map: one map times the values is not an output",
         "attnscope spectrum --of map, scores, values or tokens");
}

const std::string& mechanism_name(const Trace& trace, std::int64_t layer) {
  return mechanism_of(trace, layer_at(trace, layer)).name;
}

MatrixD l1_scores(const MatrixD& queries, const MatrixD& keys) {
  MatrixD scores(queries.rows(), keys.rows());
  const double deviation =
      std::sqrt(2.0 * static_cast<double>(queries.cols()) * (1.0 - 2.0 / std::numbers::pi));
  for (Eigen::Index i = 0; i < queries.rows(); ++i) {
    for (Eigen::Index j = 0; j < keys.rows(); ++j) {
      scores(i, j) = -(queries.row(i) - keys.row(j)).cwiseAbs().sum() / deviation;
    }
  }
  return scores;
}

AnalysedMatrix scores_of(const Trace& trace, const MapIndex& place) {
  const LayerTrace& layer = layer_at(trace, place.layer);
  const std::string& name = mechanism_name(trace, place.layer);
  if (!find_mechanism(name).terms) {
    refuse(trace, place.layer, name + " attention is not a softmax of scores",
           "attnscope spectrum --of map");
  }
  if (name == "differential") {
    refuse(trace, place.layer, "a head of differential attention has two matrices of scores",
           "attnscope spectrum --of map");
  }
  const MatrixD queries = queries_at(trace, place), keys = keys_at(trace, place);
  if (name == "adder") return {l1_scores(queries, keys)};
  const double scale =
      layer.score_scale.value_or(1 / std::sqrt(static_cast<double>(queries.cols())));
  return {queries * keys.transpose() * scale, queries.cols()};
}

/// True if ln A is a multiple of the scores up to a constant per row: then rank ln A ≤ d + 1. A
/// bias, cap or mask that the trace does not record fails this test.
bool follows_from(const MatrixD& logarithms, const MatrixD& scores) {
  const MatrixD left = logarithms.colwise() - logarithms.rowwise().mean();
  const MatrixD right = scores.colwise() - scores.rowwise().mean();
  const double squares = right.squaredNorm();
  if (!(squares > 0)) return false;
  const double scale = (left.array() * right.array()).sum() / squares;
  return (left - scale * right).norm() <= 1e-4 * left.norm();
}

AnalysedMatrix log_map_of(const Trace& trace, const MapIndex& place) {
  const MatrixD map = map_seen(trace, place, IdentityView::without);
  if (map.array().isFinite().all() && (map.array() <= 0).any()) {
    const auto zeros = (map.array() <= 0).count();
    refuse(trace, place.layer,
           "ln is not defined for weights that are not above 0: " + std::to_string(zeros) + " of " +
               std::to_string(map.size()) + " weights of head " + std::to_string(place.head),
           "masked maps have no logarithm; attnscope spectrum --of scores analyses the scores "
           "before the mask");
  }
  AnalysedMatrix found{map.array().log().matrix()};
  const LayerTrace& layer = layer_at(trace, place.layer);
  const bool known = mechanism_name(trace, place.layer) != "differential" &&
                     find_mechanism(mechanism_name(trace, place.layer)).scaled &&
                     find_mechanism(mechanism_name(trace, place.layer)).terms &&
                     !layer.queries.empty() && !layer.keys.empty();
  if (!known) return found;
  const AnalysedMatrix scores = scores_of(trace, place);
  if (follows_from(found.matrix, scores.matrix)) found.rank_bound = scores.rank_bound + 1;
  return found;
}

/// A P with P = U Uᵀ, where U [M, rank v] is an orthonormal basis of the columns of v.
AnalysedMatrix seen_by_values(const MatrixD& map, const MatrixD& values) {
  if (!values.array().isFinite().all()) return {map * values.sum()};
  const SingularVectors decomposed = singular_vectors(values);
  const Eigen::VectorXd& sigma = decomposed.values;
  const double least = static_cast<double>(values.rows()) * kFloatEpsilon * sigma(0);
  const Eigen::Index rank = (sigma.array() > least).count();
  const Eigen::MatrixXd basis = decomposed.left.leftCols(rank);
  return {(map * basis) * basis.transpose(), static_cast<std::int64_t>(rank)};
}

AnalysedMatrix output_of(const Trace& trace, const MapIndex& place, IdentityView view) {
  const std::int64_t heads = trace.heads(place.layer);
  AnalysedMatrix found;
  for (std::int64_t head = 0; head < heads; ++head) {
    const MatrixD values = values_of(trace, {place.layer, head});
    if (head == 0) found.matrix.resize(trace.queries(place.layer), heads * values.cols());
    found.matrix.middleCols(head * values.cols(), values.cols()) =
        map_seen(trace, {place.layer, head}, view) * values;
  }
  found.rank_bound = found.matrix.cols();
  return found;
}

/// The input tokens of a layer; their shape must be that of its output tokens `after`.
MatrixD tokens_given(const Trace& trace, std::int64_t layer, const MatrixD& after) {
  const Tensor& before = layer == 0 ? trace.embedded : layer_at(trace, layer - 1).tokens;
  if (before.empty() || before.extent(0) != after.rows() || before.extent(1) != after.cols()) {
    refuse(trace, layer, "the layer's input tokens were not recorded, or have another shape",
           "record the tokens of all layers: attnscope trace --record tokens");
  }
  return before.matrix().cast<double>();
}

/// Matrices that are derived from the map.
AnalysedMatrix of_map(const Subject& subject, const MapIndex& place, const MatrixChoice& analysed) {
  const Trace& trace = *subject.trace;
  const MatrixKind of = analysed.of;
  if (of == MatrixKind::output) {
    require_one_map(trace, place.layer);
    return output_of(trace, place, analysed.identity);
  }
  MatrixD map = map_seen(trace, place, analysed.identity);
  if (of == MatrixKind::map) return {std::move(map), 0};
  require_one_map(trace, place.layer);
  if (of == MatrixKind::norm_weighted) {
    const LayerInside inside(subject, place.layer);
    return {map * inside.given(place.head).rowwise().norm().asDiagonal()};
  }
  const MatrixD values = values_of(trace, place);
  if (of == MatrixKind::head_output) return {map * values, values.cols()};
  if (of == MatrixKind::seen_by_values) return seen_by_values(map, values);
  return {map * values.rowwise().norm().asDiagonal()};
}

[[noreturn]] void refuse_convolution(const Trace& trace, std::int64_t layer, const std::string& why,
                                     const std::string& remedy) {
  throw Error(ErrorKind::usage, why).about(layer_name(trace, layer)).remedy(remedy);
}

/// Index of the window that biases the channels of the map at `place`; empty if there are several.
std::optional<std::int64_t> window_of(const Trace& trace, const MapIndex& place,
                                      std::int64_t windows) {
  const std::int64_t each = trace.map_channels, width = trace.heads(place.layer) * each;
  const std::int64_t first = place.head * each;
  if (trace.map_channel) return (first + *trace.map_channel) * windows / width;
  const std::int64_t of_first = first * windows / width;
  if ((first + each - 1) * windows / width != of_first) return std::nullopt;
  return of_first;
}

const Tensor& window_biases(const Trace& trace, std::int64_t layer) {
  const LayerTrace& own = layer_at(trace, layer);
  const std::string& mechanism = mechanism_name(trace, layer);
  if (mechanism != "daft-conv" && mechanism != "daft-one-hot") {
    refuse_convolution(trace, layer, mechanism + " attention adds no convolution",
                       "DAFT-conv has one");
  }
  const auto found = own.quantities.find(std::string_view("window_bias"));
  if (found != own.quantities.end()) return found->second;
  refuse_convolution(trace, layer, "the trace holds no biases of the window",
                     "record them: attnscope trace --record quantities");
}

/// Biases w_ij [N, N] of one window over a grid; prefix tokens, which precede it, have bias 0.
MatrixD bias_of_places(const ConstMatrixMap& window, std::int64_t prefix, std::int64_t rows,
                       std::int64_t columns) {
  const std::int64_t half_rows = window.rows() / 2, half_columns = window.cols() / 2;
  const std::int64_t tokens = prefix + rows * columns;
  MatrixD bias = MatrixD::Zero(tokens, tokens);
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    for (std::int64_t j = 0; j < rows * columns; ++j) {
      const std::int64_t dy = j / columns - i / columns, dx = j % columns - i % columns;
      if (std::abs(dy) > half_rows || std::abs(dx) > half_columns) continue;
      bias(prefix + i, prefix + j) = static_cast<double>(window(dy + half_rows, dx + half_columns));
    }
  }
  return bias;
}

/// x + γ ⊙ A v W_O [N, D] of one head, or, if place.head is negative, of all heads together with
/// the bias of W_O; A is seen as `view` says. Throws Error(usage) if the subject has no model, a
/// required quantity was not recorded, or the layer has no residual stream, and errors of
/// LayerInside.
MatrixD with_residual(const Subject& subject, const MapIndex& place, IdentityView view) {
  const LayerInside inside(subject, place.layer);
  if (inside.residual() == 0) {
    throw Error(ErrorKind::usage, "the layer has no residual")
        .about(layer_name(*subject.trace, place.layer));
  }
  MatrixD sum = inside.residual() * inside.before();
  const bool all = place.head < 0;
  for (std::int64_t head = 0; head < inside.heads(); ++head) {
    if (!all && head != place.head) continue;
    sum += map_seen(*subject.trace, {place.layer, head}, view) * inside.given(head);
  }
  if (all) sum.rowwise() += inside.bias();
  return sum;
}

}  // namespace

bool fit_heads(const Tensor& vectors, std::int64_t heads, std::int64_t rows) {
  if (vectors.empty()) return false;
  const std::int64_t own = vectors.extent(0);
  return own > 0 && heads % own == 0 && vectors.extent(1) == rows;
}

bool has_scores(const Trace& trace, std::int64_t layer) {
  const LayerTrace& own = layer_at(trace, layer);
  const auto entry =
      std::ranges::find(mechanisms(), mechanism_name(trace, layer), &MechanismEntry::name);
  const std::int64_t heads = trace.heads(layer);
  return entry != mechanisms().end() && entry->terms &&
         fit_heads(own.queries, heads, trace.queries(layer)) &&
         fit_heads(own.keys, heads, trace.keys(layer));
}

void take_mean_row_away(MatrixD& matrix) {
  const Eigen::RowVectorXd mean = matrix.colwise().mean();
  // Equal entries leave the rounding of their mean, at most N ε of their size.
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const Eigen::RowVectorXd rounding =
      matrix.cwiseAbs().colwise().maxCoeff() * (static_cast<double>(matrix.rows()) * kEpsilon);
  matrix.rowwise() -= mean;
  for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
    const auto is_rounding = matrix.row(row).array().abs() <= rounding.array();
    matrix.row(row) = is_rounding.select(0.0, matrix.row(row));
  }
}

AnalysedMatrix analysed_matrix(const Subject& subject, const MapIndex& place,
                               const MatrixChoice& analysed) {
  check_added(analysed);
  const Trace& trace = *subject.trace;
  AnalysedMatrix found;
  switch (analysed.of) {
    case MatrixKind::scores:
      found = scores_of(trace, place);
      break;
    case MatrixKind::log_map:
      found = log_map_of(trace, place);
      break;
    case MatrixKind::values:
      found.matrix = values_of(trace, place);
      found.rank_bound = found.matrix.cols();
      break;
    case MatrixKind::queries:
      found.matrix = queries_at(trace, place);
      found.rank_bound = found.matrix.cols();
      break;
    case MatrixKind::keys:
      found.matrix = keys_at(trace, place);
      found.rank_bound = found.matrix.cols();
      break;
    case MatrixKind::queries_before_rotary:
      found.matrix = before_rotary(subject, place, queries_at(trace, place));
      found.rank_bound = found.matrix.cols();
      break;
    case MatrixKind::keys_before_rotary:
      found.matrix = before_rotary(subject, place, keys_at(trace, place));
      found.rank_bound = found.matrix.cols();
      break;
    case MatrixKind::tokens:
      found.matrix = layer_at(trace, place.layer).tokens.matrix().cast<double>();
      found.rank_bound = found.matrix.cols();
      break;
    case MatrixKind::token_updates:
      found.matrix = layer_at(trace, place.layer).tokens.matrix().cast<double>();
      found.matrix -= tokens_given(trace, place.layer, found.matrix);
      break;
    default:
      found = analysed.added == Added::none ? of_map(subject, place, analysed)
              : analysed.added == Added::residual
                  ? AnalysedMatrix{with_residual(subject, place, analysed.identity)}
                  : AnalysedMatrix{split_convolution(trace, place, analysed.added)};
      found.identity = has_identity(trace, place.layer, analysed.identity);
  }
  if (analysed.is_map() && !found.identity) {
    found.rank_bound = layer_at(trace, place.layer).rank_bound;
  }
  if (analysed.centred) take_mean_row_away(found.matrix);
  const std::int64_t smaller = std::min(found.matrix.rows(), found.matrix.cols());
  if (found.rank_bound >= smaller) found.rank_bound = 0;
  return found;
}

MatrixD split_convolution(const Trace& trace, const MapIndex& place, Added added) {
  const Tensor& biases = window_biases(trace, place.layer);
  const std::optional<std::int64_t> head = window_of(trace, place, biases.extent(0));
  if (!head) {
    refuse_convolution(trace, place.layer, "each channel of this head has its own window",
                       "choose one channel: --channel 0, 1, …");
  }
  const std::int64_t rows = biases.extent(1), columns = biases.extent(2);
  const ConstMatrixMap window(biases.data() + *head * rows * columns, rows, columns);
  const TokenLayout& layout = query_layout(trace, place.layer);
  MatrixD map = map_seen(trace, place, IdentityView::without);
  // The window of a sequence is one row. Causal layers have no prefix tokens.
  const std::int64_t prefix = trace.causal ? 0 : layout.prefix;
  const bool grid = rows > 1;
  const MatrixD bias =
      bias_of_places(window, prefix, grid ? layout.rows : 1,
                     grid ? layout.columns : static_cast<std::int64_t>(map.rows()) - prefix);
  if (bias.rows() != map.rows() || bias.cols() != map.cols()) {
    refuse_convolution(trace, place.layer, "the window's positions do not match the map's shape",
                       "run the model again");
  }
  const Eigen::ArrayXXd rest = (-bias.array()).exp();
  const bool alone = added == Added::convolution;
  map.array() *= alone ? 1 - rest : rest;
  return map;
}

}  // namespace attnscope
