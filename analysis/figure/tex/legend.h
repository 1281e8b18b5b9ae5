// Legends as TikZ matrices, whose texts TeX measures, and colour bars in TikZ.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/tex/layout.h"

namespace attnscope {

/// A legend of the panel's series, below it or inside a corner of its frame; empty if the panel has
/// no legend.
[[nodiscard]] std::string tex_legend(const TexPanel& panel);

/// One legend for all panels of the figure in `room`, each series once.
[[nodiscard]] std::string tex_shared_legend(const Figure& figure, const TexBox& room);

/// The scale's colours at even fractions of its range, 0 to 1.
[[nodiscard]] std::vector<std::pair<double, Colour>> colour_stops(const ColourScale& scale);

/// The colour bar: a shading, its ticks, its label, and arrowheads for values beyond its ends.
[[nodiscard]] std::string tex_bar(const Figure& figure, const TexBar& bar);

}  // namespace attnscope
