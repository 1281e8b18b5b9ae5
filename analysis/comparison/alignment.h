// Pairs the layers and heads of two models that are compared.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"
#include "core/trace/trace.h"

namespace attnscope {

/// Solves the linear assignment problem: assigns rows to columns one to one with the least sum of
/// costs. Returns the column of each row, -1 for surplus rows if there are more rows than columns.
/// Exact, in O(n³), n the larger dimension (Kuhn 1955, with the shortest augmenting paths of Jonker
/// & Volgenant 1987). `costs` must be finite. Deterministic.
[[nodiscard]] std::vector<std::int64_t> least_assignment(const MatrixD& costs);

/// Pairing of layers of models of different depth. Both kinds agree for equal depths.
enum class LayerAlignment {
  by_index,  ///< layer 3 with layer 3; layers beyond the reference's last have no counterpart
  by_depth   ///< layer with the reference layer at the same relative depth
};
inline constexpr EnumName<LayerAlignment> layer_alignment_names[] = {
    {LayerAlignment::by_index, "index"}, {LayerAlignment::by_depth, "depth"}};

/// The reference's layer for `layer` of `layers`, or -1 if there is none. For by_depth it is
/// ⌈(layer + 1) · R / layers⌉ − 1 of R reference layers: the last is compared with the last.
[[nodiscard]] std::int64_t reference_layer_of(std::int64_t layer, std::int64_t layers,
                                              std::int64_t reference_layers,
                                              LayerAlignment alignment);

/// The reference's maps that the maps of one layer are compared with.
struct LayerPair {
  std::int64_t reference_layer = -1;          ///< -1: no counterpart
  std::vector<std::int64_t> reference_heads;  ///< one per head of the layer; -1: no counterpart

  bool operator==(const LayerPair&) const = default;
};

/// One pair per layer of the compared model.
using MapAlignment = std::vector<LayerPair>;

/// Pairs heads by index. A layer without maps, or whose counterpart has none, has no heads here.
[[nodiscard]] MapAlignment align_by_index(const Trace& reference, const Trace& other,
                                          LayerAlignment layers);

/// Cost of pairing heads with the reference's heads, one matrix per layer: rows are heads, columns
/// the reference's heads. 0×0 for a layer without counterpart.
using HeadCosts = std::vector<MatrixD>;

/// Dissimilarity of the heads of paired layers, 0 to 1: the mean Jensen–Shannon divergence of their
/// rows in bits; the distance of their spectra if the maps differ in size; 1 if neither is defined.
/// Throws Cancelled.
[[nodiscard]] HeadCosts head_costs(const Trace& reference, const Trace& other,
                                   LayerAlignment layers, IdentityView view,
                                   const Progress& progress = {});

/// Pairs heads one to one with the least sum of costs. If there are more heads than the reference
/// has, the surplus heads with the worst fit have no counterpart.
[[nodiscard]] MapAlignment align_by_similarity(const Trace& reference, const Trace& other,
                                               LayerAlignment layers, const HeadCosts& costs);

}  // namespace attnscope
