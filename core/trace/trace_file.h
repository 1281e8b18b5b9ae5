// Traces on disk: HDF5, and anyone may write one: maps alone are enough.
//
//   /layer_00/implied_map      float [H, N, M]; rows are queries. Required; layers without gaps.
//   /layer_00/map_blocks       float [H, Σ n²], in the place of implied_map where tokens attend
//                              within windows: the maps of n tokens each, one after another
//   /layer_00/{block_sizes,block_tokens}   int [windows], [N]: n of each, and which tokens it has
//   /layer_00/seen_keys        int [N, 2]: of each query the first key and the end of those that
//                              the mask lets it see
//   /layer_00/{queries,keys,values}   float [H, N, d]; keys and values [H, M, d]
//   /layer_00/tokens           float [N, D], after the layer
//   /layer_00/quantities/NAME  float, the mechanism's own
//   /features                  float [D], what the head reads
//   /layer_00/{left,right}_factor     float [H, N, b], [H, M, b]: implied_map = left · rightᵀ
//   /embedded                  float [N, D], before the first layer
//   /logits                    float [classes]
//   /image                     uint8 [height, width, 1 or 3]: what the grid of tokens covers
// Attributes of the root, all optional: `model_name`, `input_label`, `mechanism` (its name),
// `mechanism_parameters`, `labels`, `token_texts` (what each token of a text says),
// `special_tokens` (places of those that stand for none of it, in order), `provenance` (JSON
// texts), and the integers `prefix_tokens`, `register_tokens` (of these, the last), `grid_rows`,
// `grid_columns` (which token is what), `identity_in_maps` (1 if the maps contain I), `causal` (1
// if no token sees later ones), `mechanism_trained` (0 if it was laid over weights trained with
// another) and `layers` (their number, if the last recorded nothing), and `rank_bounds` (JSON: of
// each layer's maps, 0 if unknown), `score_scales` (JSON: what each layer's q·k is multiplied with,
// null if unknown) and `known_masks` (JSON: whether each layer's `seen_keys` and blocks say all
// that is hidden of its queries; without it zeros above the diagonal tell a causal map). Where
// layers differ (pyramids): `layer_layouts`, JSON
// [{"queries": {"prefix": 0, "rows": 56, "columns": 56}, "keys": {…}}, …], and `layer_mechanisms`,
// JSON [null, {"name": "softmax", "parameters": {}, "identity": false}, …]; null is the trace's. Of
// an encoder–decoder `layer_kinds` (JSON: layer_kind_name of each), `decoder_token_texts` and
// `decoder_special_tokens`.
// The same names serve in a .npz, without attributes ("layer_00/implied_map.npy"). Arrays of other
// names are a trace too where they are maps alone, in .npz, .npy and .pt: see trace_arrays.h.
#pragma once

#include <filesystem>

#include "core/trace/trace.h"

namespace attnscope {

/// Written beside, then renamed. Throws Error(io).
void write_trace(const std::filesystem::path& file, const Trace& trace);

/// Throws Error(not_this_format) if there are no maps of /layer_00 and the arrays are no maps,
/// Error(damaged) naming the data set whose shape does not fit.
[[nodiscard]] Trace read_trace(const std::filesystem::path& file);

/// True if the file holds maps of /layer_00, or its arrays are maps.
[[nodiscard]] bool is_trace_file(const std::filesystem::path& file);

}  // namespace attnscope
