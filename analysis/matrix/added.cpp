#include "analysis/matrix/added.h"

#include <cmath>
#include <optional>

#include "analysis/mixing/layer_inside.h"
#include "core/error.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

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
  const LayerTrace& own = trace.layers[static_cast<std::size_t>(layer)];
  const MechanismChoice& mechanism = own.mechanism ? *own.mechanism : trace.mechanism;
  if (mechanism.name != "daft-conv" && mechanism.name != "daft-one-hot") {
    refuse_convolution(trace, layer, mechanism.name + " attention adds no convolution",
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

}  // namespace

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
