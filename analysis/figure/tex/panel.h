// Writes one panel: its cells, its axis with the plotted marks, its texts.
#pragma once

#include <string>
#include <vector>

#include "analysis/figure/tex/layout.h"
#include "analysis/figure/text_export.h"

namespace attnscope {

/// Maximum number of cells in a figure whose heat maps are drawn cell by cell from their values:
/// PGFPlots takes a second for a few thousand. Heat maps of larger figures are pictures.
inline constexpr std::int64_t most_cells_as_plot = 1500;

/// The panel's source. Pictures that it includes are added to `images` as `name`-01.png and so on.
[[nodiscard]] std::string tex_panel(const Figure& figure, const TexPanel& panel, bool cells_as_plot,
                                    const std::string& name, std::vector<TexFigure::File>& images);

}  // namespace attnscope
