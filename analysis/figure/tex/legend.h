// Legends as TikZ matrices, whose texts TeX measures.
#pragma once

#include <set>
#include <string>

#include "analysis/figure/tex/layout.h"

namespace attnscope {

/// A legend of the panel's series, below it or inside a corner of its frame; empty if the panel has
/// no legend.
[[nodiscard]] std::string tex_legend(const TexPanel& panel);

/// One legend for all panels of the figure in `room`, each series once.
[[nodiscard]] std::string tex_shared_legend(const Figure& figure, const TexBox& room);

}  // namespace attnscope
