// A subject as the data of a page: its tokens, its maps as tiles, its spectra and its tables.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/html/map_tile.h"
#include "analysis/spectrum/rank.h"
#include "core/progress.h"

namespace attnscope {

/// The maps that a page shows.
struct PageMaps {
  std::vector<std::int64_t> layers, heads;  ///< indices from 0; all recorded ones if empty
  RankThreshold threshold = {};             ///< threshold of the tables' equivalent ranks
};

/// Number of entries of the recorded maps of `subject` that are shown.
[[nodiscard]] std::int64_t shown_cells(const Subject& subject, const PageMaps& shown);

/// The data of one subject, which needs a trace with at least one shown map:
///   label, mechanism, input, status           words
///   images    [{src, width, height}] that the grids of each layout cover; null without pixels
///   layouts   [{prefix, grids, names, texts}] of tokens; a grid, or picture in a text, is
///             {rows, columns, tokens, overview}: the token of each cell, and [token, cell, share]
///             of each token that stands for several cells
///   layers    [{index, name, queries, keys, query_layout, key_layout, identity}]; a layout is an
///             index into layouts; identity: the mechanism's maps contain I
///   maps      [{layer, head, tile, without, with, estimated, state}] without I and with I, the
///             singular values; `with` is null for maps that are not square; tile
///             {minimum, maximum, codes} of the map without I, or null if it was not recorded
///   tables    {without, with}: {columns: [{name, title}], rows: [[[value, words], …], …]} as
///             attnscope spectrum prints them, a row for each of maps
///   largest_error                             of any entry of a tile
/// Throws Error(usage) if no map is shown, and like spectra_of.
[[nodiscard]] nlohmann::ordered_json subject_as_json(const Subject& subject, const PageMaps& shown,
                                                     const TileCoding& coding,
                                                     const Progress& progress);

}  // namespace attnscope
