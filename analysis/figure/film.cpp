#include "analysis/figure/film.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

void require_alike(const Figure& figure, const char* parts, std::size_t expected,
                   std::size_t found) {
  if (found == expected) return;
  throw Error(ErrorKind::usage, "the frames of a film must have the same layout")
      .about(figure.title)
      .expected(std::to_string(expected) + parts)
      .found(std::to_string(found));
}

}  // namespace

void make_alike(std::span<Figure> figures) {
  if (figures.empty()) return;
  std::vector<ColourScale> all = figures.front().colour_scales;
  const std::size_t panels = figures.front().panels.size();
  double height_mm = 0;
  if (all.empty()) {
    throw Error(ErrorKind::usage, "a film needs a figure with a colour scale that its frames share")
        .about(figures.front().name)
        .remedy("choose attention-maps or attention-overlay");
  }
  for (const Figure& figure : figures) {
    require_alike(figure, " panels", panels, figure.panels.size());
    require_alike(figure, " colour scales", all.size(), figure.colour_scales.size());
    height_mm = std::max(height_mm, figure.height_mm);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].minimum = std::min(all[i].minimum, figure.colour_scales[i].minimum);
      all[i].maximum = std::max(all[i].maximum, figure.colour_scales[i].maximum);
    }
  }
  for (Figure& figure : figures) {
    figure.colour_scales = all;
    figure.height_mm = height_mm;
  }
}

}  // namespace attnscope
