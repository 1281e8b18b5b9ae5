#include "analysis/frequencies/grid_spectrum.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "analysis/spectrum/map_batch.h"
#include "core/error.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

using RowMajorC =
    Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// e^{−2πi jk/n}, [n, n].
RowMajorC fourier_matrix(std::int64_t n) {
  RowMajorC matrix(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t k = 0; k < n; ++k) {
      const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
      matrix(j, k) = std::polar(1.0, -2 * std::numbers::pi * turns);
    }
  }
  return matrix;
}

/// The place on the curve of each frequency (u, v) of a grid; −1 for those that are not on it.
struct Profile {
  std::vector<std::int64_t> place;  ///< [rows · columns]
  std::vector<double> frequency;
  std::vector<std::int64_t> cells;
};

Profile profile_of(const TokenLayout& layout, FrequencyProfile by) {
  const std::int64_t rows = layout.rows, columns = layout.columns;
  const std::int64_t shorter = std::min(rows, columns);
  if (by == FrequencyProfile::diagonal && rows != columns) {
    throw Error(ErrorKind::usage, "a profile along the diagonal needs a square grid")
        .expected("as many rows as columns")
        .found(std::to_string(rows) + " × " + std::to_string(columns))
        .remedy("average over radii instead");
  }
  Profile profile;
  for (std::int64_t u = 0; u < rows; ++u) {
    for (std::int64_t v = 0; v < columns; ++v) {
      const auto across = static_cast<double>(std::min(u, rows - u)) / static_cast<double>(rows);
      const auto along =
          static_cast<double>(std::min(v, columns - v)) / static_cast<double>(columns);
      std::int64_t place = std::llround(std::hypot(across, along) * static_cast<double>(shorter));
      if (by == FrequencyProfile::diagonal) place = u == v && 2 * u < rows ? u : -1;
      profile.place.push_back(place);
      const auto needed = static_cast<std::size_t>(place + 1);
      if (profile.cells.size() < needed) profile.cells.resize(needed);
      if (place >= 0) ++profile.cells[static_cast<std::size_t>(place)];
    }
  }
  for (std::size_t i = 0; i < profile.cells.size(); ++i) {
    profile.frequency.push_back(2 * static_cast<double>(i) / static_cast<double>(shorter));
  }
  return profile;
}

FrequencyCurve curve_by_profile(std::int64_t layer, const Profile& profile,
                                const Eigen::ArrayXd& values) {
  FrequencyCurve curve{layer, profile.frequency, profile.cells,
                       std::vector<double>(profile.frequency.size())};
  for (std::size_t i = 0; i < profile.place.size(); ++i) {
    if (profile.place[i] < 0) continue;
    curve.value[static_cast<std::size_t>(profile.place[i])] += values(static_cast<Eigen::Index>(i));
  }
  for (std::size_t i = 0; i < curve.value.size(); ++i) {
    curve.value[i] /= static_cast<double>(curve.cells[i]);
  }
  return curve;
}

/// r_k of one map, in the order of the cells.
Eigen::ArrayXd filter_response(const MatrixD& map, const TokenLayout& layout) {
  const std::int64_t cells = layout.rows * layout.columns;
  constexpr Eigen::Index kAtOnce = 256;  // keys, which bounds the memory for large grids
  Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(cells);
  for (Eigen::Index first = 0; first < cells; first += kAtOnce) {
    const auto keys = map.block(layout.prefix, layout.prefix + first, cells,
                                std::min<Eigen::Index>(kAtOnce, cells - first));
    squares +=
        transform_over_grid(keys, layout.rows, layout.columns).rowwise().squaredNorm().array();
  }
  return (squares / static_cast<double>(cells)).sqrt();
}

void check_filter(const Trace& trace, std::int64_t layer) {
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::usage, why).about(layer_name(trace, layer));
  };
  const TokenLayout& queries = query_layout(trace, layer);
  if (!queries.is_grid_of(trace.queries(layer))) {
    refuse("the tokens do not form a grid, over which a map would filter");
  }
  const LayerKind kind = trace.layers[static_cast<std::size_t>(layer)].kind;
  if (trace.keys(layer) != trace.queries(layer) || kind == LayerKind::cross ||
      kind == LayerKind::class_attention) {
    refuse("the keys are other tokens than the queries: the map is no filter");
  }
  if (trace.causal) refuse("a causal map is no filter: each query sees other keys");
}

/// True for a map without a record of its mask that is 0 above the diagonal, but not below.
bool hides_later_keys(const LayerTrace& layer, const MatrixD& map) {
  if (layer.seen) return false;
  const auto is_zero = [](const MatrixD& part) { return part.isZero(0); };
  return is_zero(map.triangularView<Eigen::StrictlyUpper>()) &&
         !is_zero(map.triangularView<Eigen::StrictlyLower>());
}

}  // namespace

double high_frequency_mean(const FrequencyCurve& curve) {
  constexpr double kHigh = 0.5;  // in π per patch
  double sum = 0;
  std::int64_t cells = 0;
  for (std::size_t i = 0; i < curve.value.size(); ++i) {
    if (curve.frequency[i] < kHigh) continue;
    sum += static_cast<double>(curve.cells[i]) * curve.value[i];
    cells += curve.cells[i];
  }
  return sum / static_cast<double>(cells);
}

Eigen::MatrixXcd transform_over_grid(const Eigen::Ref<const MatrixD>& columns,
                                     std::int64_t grid_rows, std::int64_t grid_columns) {
  const RowMajorC by_row = fourier_matrix(grid_rows), by_column = fourier_matrix(grid_columns);
  const Eigen::Index count = columns.cols();
  RowMajorC half(columns.rows(), count);
  for (std::int64_t row = 0; row < grid_rows; ++row) {
    half.middleRows(row * grid_columns, grid_columns).noalias() =
        by_column * columns.middleRows(row * grid_columns, grid_columns);
  }
  // The cells of a row of the grid are contiguous: all its columns are transformed at once.
  RowMajorC whole(columns.rows(), count);
  const Eigen::Map<const RowMajorC> from(half.data(), grid_rows, grid_columns * count);
  Eigen::Map<RowMajorC>(whole.data(), grid_rows, grid_columns * count).noalias() = by_row * from;
  return whole;
}

std::vector<FrequencyCurve> filter_responses(const Trace& trace, FrequencyProfile by,
                                             IdentityView view,
                                             const std::vector<std::int64_t>& layers,
                                             const std::vector<std::int64_t>& heads,
                                             const Progress& progress) {
  std::vector<MapIndex> places = recorded_maps(trace, layers);
  for (const MapIndex& place : places) {
    if (place.head == 0) check_filter(trace, place.layer);
  }
  std::erase_if(places, [&](const MapIndex& place) {
    return !heads.empty() && std::ranges::count(heads, place.head) == 0;
  });
  if (places.empty()) throw Error(ErrorKind::usage, "no layer has these heads").about("heads");
  std::vector<Eigen::ArrayXd> responses(places.size());
  for_each_map(
      trace, places, progress,
      [&](std::size_t index) {
        const MapIndex& place = places[index];
        const MatrixD map = map_seen(trace, place, view);
        if (hides_later_keys(trace.layers[static_cast<std::size_t>(place.layer)], map)) {
          throw Error(ErrorKind::usage, "a causal map is no filter: each query sees other keys")
              .about(layer_name(trace, place.layer));
        }
        responses[index] = filter_response(map, query_layout(trace, place.layer));
        return [] {};
      },
      "filter responses");
  std::vector<FrequencyCurve> curves;
  for (std::size_t first = 0; first < places.size();) {
    const std::int64_t layer = places[first].layer;
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(responses[first].size());
    std::size_t end = first;
    for (; end < places.size() && places[end].layer == layer; ++end) sum += responses[end];
    curves.push_back(curve_by_profile(layer, profile_of(query_layout(trace, layer), by),
                                      sum / static_cast<double>(end - first)));
    first = end;
  }
  return curves;
}

std::vector<FrequencyCurve> token_amplitudes(const Trace& trace, FrequencyProfile by,
                                             const std::vector<std::int64_t>& layers) {
  for (const std::int64_t layer : layers) (void)recorded_layer(trace, layer);
  std::vector<FrequencyCurve> curves;
  const auto add = [&](std::int64_t layer, const Tensor& tokens, const TokenLayout& layout) {
    if (tokens.empty() || !layout.is_grid_of(tokens.extent(0))) return;
    if (!layers.empty() && std::ranges::count(layers, layer) == 0) return;
    const MatrixD patches = tokens.matrix().bottomRows(layout.rows * layout.columns).cast<double>();
    const Eigen::ArrayXXd amplitudes =
        transform_over_grid(patches, layout.rows, layout.columns).array().abs();
    // The authors' guard of the logarithm (how-do-vits-work, fourier_analysis.ipynb).
    constexpr double kLeast = 1e-6;
    curves.push_back(curve_by_profile(layer, profile_of(layout, by),
                                      (amplitudes + kLeast).log().rowwise().mean()));
  };
  add(-1, trace.embedded, trace.layout);
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    add(layer, trace.layers[static_cast<std::size_t>(layer)].tokens, query_layout(trace, layer));
  }
  if (curves.empty()) {
    throw Error(ErrorKind::usage, "no tokens on a grid of patches were recorded")
        .about(trace.model_name)
        .remedy("run a model of images, or record them: attnscope trace --record tokens");
  }
  return curves;
}

}  // namespace attnscope
