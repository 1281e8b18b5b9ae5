// Which layers and heads of two models are compared with each other.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/trace/trace.h"

namespace attnscope {

/// How layers of models of different depth find each other. The same for equal depths.
enum class LayerAlignment {
  by_index,  ///< layer 3 with layer 3; layers beyond the reference's last have none
  by_depth   ///< with the layer at whose end the same share of the network has been run
};
inline constexpr EnumName<LayerAlignment> layer_alignment_names[] = {
    {LayerAlignment::by_index, "index"}, {LayerAlignment::by_depth, "depth"}};

/// The reference's layer for `layer` of `layers`, or -1. by_depth: ⌈(layer + 1) · R / layers⌉ − 1
/// of R reference layers, so that the last is compared with the last.
[[nodiscard]] std::int64_t reference_layer_of(std::int64_t layer, std::int64_t layers,
                                              std::int64_t reference_layers,
                                              LayerAlignment alignment);

/// Which of the reference's maps one layer's are compared with.
struct LayerPair {
  std::int64_t reference_layer = -1;          ///< -1: none
  std::vector<std::int64_t> reference_heads;  ///< of each head of the layer; -1: none

  bool operator==(const LayerPair&) const = default;
};

/// One for each layer of the compared model.
using MapAlignment = std::vector<LayerPair>;

/// Heads by their index. A layer without maps, or whose counterpart has none, has no heads here.
[[nodiscard]] MapAlignment align_by_index(const Trace& reference, const Trace& other,
                                          LayerAlignment layers);

/// What it costs to compare a head with a reference's: rows
/// are heads, columns the reference's. Of each layer; 0×0 where a layer has no counterpart.
using HeadCosts = std::vector<MatrixD>;

/// How unlike each other the heads of aligned layers are, 0 to 1: the mean Jensen–Shannon
/// divergence of their rows in bits, the distance of their spectra where the maps differ in size;
/// 1 where neither is defined. Throws Cancelled.
[[nodiscard]] HeadCosts head_costs(const Trace& reference, const Trace& other,
                                   LayerAlignment layers, IdentityView view,
                                   const Progress& progress = {});

/// Heads matched one to one so that the sum of costs is least; where there are more heads than the
/// reference has, those that fit worst have none.
[[nodiscard]] MapAlignment align_by_similarity(const Trace& reference, const Trace& other,
                                               LayerAlignment layers, const HeadCosts& costs);

}  // namespace attnscope
