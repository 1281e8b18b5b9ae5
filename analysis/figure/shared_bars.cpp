#include "analysis/figure/shared_bars.h"

#include <algorithm>

namespace attnscope {

std::vector<SharedBar> shared_bars(const Figure& figure, std::size_t area) {
  std::vector<SharedBar> bars;
  for (std::size_t scale = 0; scale < figure.colour_scales.size(); ++scale) {
    if (figure.colour_scales[scale].bar_area) continue;
    SharedBar bar{scale, 0, 0, 0};
    bool used = false;
    for (const Panel& panel : figure.panels) {
      const bool shares = std::any_of(panel.marks.begin(), panel.marks.end(), [&](const Mark& m) {
        const auto* map = std::get_if<HeatMap>(&m);
        return map != nullptr && map->colour_scale == scale;
      });
      if (!shares || panel.area != area) continue;
      bar.first_row = used ? std::min(bar.first_row, panel.row) : panel.row;
      bar.last_row = used ? std::max(bar.last_row, panel.row) : panel.row;
      used = true;
    }
    if (!used) continue;
    for (const SharedBar& other : bars) {
      if (bar.first_row <= other.last_row && other.first_row <= bar.last_row) {
        bar.rank = std::max(bar.rank, other.rank + 1);
      }
    }
    bars.push_back(bar);
  }
  return bars;
}

}  // namespace attnscope
