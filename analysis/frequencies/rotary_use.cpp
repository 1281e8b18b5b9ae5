#include "analysis/frequencies/rotary_use.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analysis/matrix/analysed_matrix.h"
#include "analysis/mixing/layer_inside.h"
#include "core/error.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

/// Mean length of the two channels over the rows from `first` on.
double mean_length(const MatrixD& rows, const RotaryPair& pair, Eigen::Index first) {
  const auto x = rows.col(pair.first).array(), y = rows.col(pair.second).array();
  return (x.square() + y.square()).sqrt().tail(rows.rows() - first).mean();
}

double extent_along(const RotaryPair& pair, const TokenLayout& layout, Eigen::Index tokens) {
  switch (pair.along) {
    case RotaryPair::Along::rows:
      return static_cast<double>(layout.rows);
    case RotaryPair::Along::columns:
      return static_cast<double>(layout.columns);
    case RotaryPair::Along::tokens:
      break;
  }
  return static_cast<double>(tokens);
}

RotaryUse use_at(const Subject& subject, const MapIndex& place) {
  const Trace& trace = *subject.trace;
  const Block& block = block_of(transformer_of(*subject.model), place.layer);
  const RotarySpec& rotary = block.spec.rotary;
  const MatrixD queries = analysed_matrix(subject, place, {MatrixKind::queries}).matrix;
  const MatrixD keys = analysed_matrix(subject, place, {MatrixKind::keys}).matrix;
  const TokenLayout& layout = query_layout(trace, place.layer);
  RotaryUse found;
  found.layer = place.layer;
  found.head = place.head;
  found.pairs =
      rotary_pairs(rotary, queries.cols(), queries.rows(), layout, block.attention.rotary_periods);
  const Eigen::Index first = rotary.grid == RotaryGrid::sequence ? 0 : layout.prefix;
  // The tokens of pictures in a text may share places (RotarySpec::sections).
  const Eigen::Index tokens = rotary.sections.empty()
                                  ? queries.rows()
                                  : rotary_place(queries.rows() - 1, layout.pictures).time + 1;
  double slow = 0;
  for (const RotaryPair& pair : found.pairs) {
    found.use.push_back(mean_length(queries, pair, first) * mean_length(keys, pair, first));
    if (pair.wavelength > extent_along(pair, layout, tokens)) slow += found.use.back();
  }
  const double sum = std::accumulate(found.use.begin(), found.use.end(), 0.0);
  found.slow_share = sum > 0 ? slow / sum : std::numeric_limits<double>::quiet_NaN();
  found.strongest =
      static_cast<std::size_t>(std::ranges::max_element(found.use) - found.use.begin());
  return found;
}

}  // namespace

bool has_rotary_positions(const Subject& subject) {
  if (!subject.model) return false;
  const ModelSpec& spec = subject.model->spec();
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    if (layer_of(spec, layer).rotary.form != Rotary::none) return true;
  }
  return false;
}

std::vector<RotaryUse> rotary_uses(const Subject& subject, const std::vector<std::int64_t>& layers,
                                   const Progress& progress) {
  require_model_and_trace(subject);
  const Trace& trace = *subject.trace;
  std::vector<MapIndex> places = recorded_maps(trace, layers);
  std::erase_if(places, [&](const MapIndex& place) {
    const Block& block = block_of(transformer_of(*subject.model), place.layer);
    if (block.spec.rotary.form != Rotary::none) return false;
    if (layers.empty()) return true;
    throw Error(ErrorKind::usage, "the layer has no rotary positions")
        .about(layer_name(trace, place.layer));
  });
  if (places.empty()) {
    throw Error(ErrorKind::usage,
                "the model has no rotary positions, whose frequencies could be used")
        .about(subject.label)
        .expected("a model such as Llama, Qwen, GPT-NeoX or DINOv3");
  }
  std::vector<RotaryUse> uses(places.size());
  for_each_map(
      trace, places, progress,
      [&](std::size_t index) {
        uses[index] = use_at(subject, places[index]);
        return [] {};
      },
      "rotary use");
  return uses;
}

}  // namespace attnscope
