#include "core/architecture/model_spec.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

LayerPlace place_of_layer(const ModelSpec& spec, std::int64_t layer) {
  if (spec.tail.kind != Tail::none && layer >= spec.body_layers()) {
    return {.stage = 1, .block = layer - spec.body_layers()};
  }
  LayerPlace place{.stage = 0, .block = layer};
  while (place.stage < spec.stages.size() && place.block >= spec.stages[place.stage].layers) {
    place.block -= spec.stages[place.stage].layers;
    ++place.stage;
  }
  return place;
}

std::int64_t stored_layer(const ModelSpec& spec, std::int64_t layer) {
  if (spec.stored_layers == 0) return layer;
  const double runs = static_cast<double>(spec.layers) / static_cast<double>(spec.stored_layers);
  return static_cast<std::int64_t>(static_cast<double>(layer) / runs);
}

std::int64_t width_of_layer(const ModelSpec& spec, std::int64_t layer) {
  return spec.stages.empty() ? spec.width : spec.stages[place_of_layer(spec, layer).stage].width;
}

std::int64_t width_of_head(const LayerSpec& layer, std::int64_t width) {
  const AttentionSpec& attention = layer.attention;
  return attention.head_width ? attention.head_width : width / attention.heads;
}

const MechanismChoice& mechanism_of(const ModelSpec& spec, std::int64_t layer) {
  if (!spec.layer_mechanisms.empty()) {
    return spec.layer_mechanisms.at(static_cast<std::size_t>(layer));
  }
  static const MechanismChoice softmax{"softmax", {}};
  if (spec.tail.kind == Tail::class_attention && layer >= spec.body_layers()) return softmax;
  const bool multiplicative_block = spec.arithmetic == Arithmetic::adder &&
                                    arithmetic_of(spec, layer) == Arithmetic::multiplicative;
  return multiplicative_block && spec.mechanism.name == "adder" ? softmax : spec.mechanism;
}

Arithmetic arithmetic_of(const ModelSpec& spec, std::int64_t layer) {
  const auto& multiplicative = spec.multiplicative_layers;
  const bool stays =
      std::find(multiplicative.begin(), multiplicative.end(), layer) != multiplicative.end();
  return stays ? Arithmetic::multiplicative : spec.arithmetic;
}

std::optional<double> score_scale(const ModelSpec& spec, std::int64_t index) {
  const LayerSpec layer = layer_of(spec, index);
  const ScoreSpec& scores = layer.scores;
  double scale = scores.scale.number;
  if (scores.scale.rule == ScoreScale::Rule::head_width) {
    const bool disentangled = scores.bias == ScoreBias::disentangled;
    if (!scores.scale_by_layer && !disentangled) return std::nullopt;
    // Disentangled scores sum three products instead of one (He et al. 2021, section 3.1).
    const double products = disentangled ? 3 : 1;
    scale = 1 / std::sqrt(products * static_cast<double>(width_of_head(layer, spec.width)));
  }
  if (scores.scale.rule == ScoreScale::Rule::width) {
    scale = 1 / std::sqrt(static_cast<double>(spec.width));
  }
  return scores.scale_by_layer ? scale / static_cast<double>(index + 1) : scale;
}

}  // namespace attnscope
