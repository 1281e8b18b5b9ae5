// Reads and writes traces as HDF5 files. Other programs may write them too; maps alone suffice.
//
//   /layer_00/implied_map      float [H, N, M], rows are queries. Required; layers without gaps
//   /layer_00/map_blocks       float [H, Σ n²], instead of implied_map for windowed attention:
//                              the maps of the windows' n tokens each, one after another
//   /layer_00/{block_sizes,block_tokens}   int [windows], [N]: n and the tokens of each window
//   /layer_00/seen_keys        int [N, 2]: first key and end of the keys that the mask lets each
//                              query see
//   /layer_00/{queries,keys,values}   float [H, N, d]; keys and values [H, M, d]
//   /layer_00/tokens           float [N, D], after the layer
//   /layer_00/quantities/NAME  float, quantities specific to the mechanism
//   /features                  float [D], the input of the head
//   /layer_00/{left,right}_factor     float [H, N, b], [H, M, b]: implied_map = left · rightᵀ
//   /embedded                  float [N, D], before the first layer
//   /logits                    float [classes]
//   /image                     uint8 [height, width, 1 or 3]: the image that the token grid covers
//
// Attributes of the root, all optional:
//   - texts: `model_name`, `input_label`, `mechanism` (its name), `mechanism_parameters`;
//   - JSON lists: `labels`, `token_texts` (the text of each token), `special_tokens` (ascending
//     indices of the tokens that stand for no text); `provenance` (a JSON object of texts);
//   - integers: `prefix_tokens`, `register_tokens` (the last of the prefix tokens), `grid_rows`,
//     `grid_columns`, `map_channels` (maps per head), `map_channel` (the recorded one),
//     `identity_in_maps` (1 if the maps contain I), `causal` (1 if no token sees later ones),
//     `mechanism_trained` (0 if the weights were trained with a different mechanism), `layers`
//     (number of layers, needed if the last recorded nothing);
//   - JSON lists with one element per layer: `maps_of_vectors` (true if the layer has no
//     implied_map because its mechanism makes it of `queries` and `keys`, which may be of fewer
//     heads, with no mask but the causal one), `rank_bounds` (0 if unknown), `score_scales` (factor
//     of q·k, null if unknown), `known_masks` (true if `seen_keys` and blocks describe the whole
//     mask; otherwise zeros above the diagonal indicate a causal map).
// JSON lists for layers that differ from the trace, where null means the trace's value:
//   - `layer_layouts`: [{"queries": {"prefix": 0, "rows": 56, "columns": 56}, "keys": {…}}, …];
//   - `layer_mechanisms`: [null, {"name": "softmax", "parameters": {}, "identity": false}, …].
// An encoder–decoder also has `layer_kinds` (JSON list of layer_kind_name), `decoder_token_texts`
// and `decoder_special_tokens`.
//
// The same names serve in a .npz file, without attributes ("layer_00/implied_map.npy"). Files .npz,
// .npy and .pt with arrays of other names are traces if all arrays are maps: see trace_arrays.h.
#pragma once

#include <filesystem>

#include "core/trace/trace.h"

namespace attnscope {

class Checkpoint;

/// Writes to a temporary file first, then renames it. Throws Error(io).
void write_trace(const std::filesystem::path& file, const Trace& trace);

/// Throws Error(not_this_format) if the file has neither maps (or what they follow from) in
/// /layer_00 nor arrays that are maps, and Error(damaged) naming a data set whose shape does not
/// fit.
[[nodiscard]] Trace read_trace(const std::filesystem::path& file);
/// The same for arrays and attributes from elsewhere; errors name no file.
[[nodiscard]] Trace read_trace(const Checkpoint& file);

/// True if the file holds maps, or what they follow from, in /layer_00, or its arrays are maps.
[[nodiscard]] bool is_trace_file(const std::filesystem::path& file);

}  // namespace attnscope
