#include "analysis/figure/composite.h"

#include <algorithm>
#include <utility>

#include "analysis/figure/caption.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/fit.h"
#include "analysis/figure/style.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr double panel_gap_mm = 3;
constexpr double bar_mm = 15;  // width of a colour bar with its numbers and label

bool same_quantity(const ColourScale& a, const ColourScale& b) {
  return a.label == b.label && a.colour_map == b.colour_map && a.norm == b.norm &&
         a.reversed == b.reversed;
}

void widen(ColourScale& scale, const ColourScale& other) {
  scale.minimum = std::min(scale.minimum, other.minimum);
  scale.maximum = std::max(scale.maximum, other.maximum);
}

/// The caption without its ending, which the page contains once.
std::string without_program(std::string caption) {
  const std::string end = made_with();
  if (caption.ends_with(end)) caption.erase(caption.size() - end.size());
  while (caption.ends_with(' ')) caption.pop_back();
  return caption;
}

/// Height of the figure's legend if the page has one for all; else 0.
double shared_legend_mm(const Figure& figure, double width_mm, const CompositeOptions& options) {
  if (!options.shared_legend) return 0;
  const double growth = options.font_size_pt > 0 ? options.font_size_pt / Figure{}.font_size_pt : 1;
  return growth * legend_mm(figure, width_mm / growth);
}

/// Keeps the legend that all panels of the figure share at the first panel of its last row.
void keep_one_legend(Figure& part) {
  std::int64_t last = 0;
  for (const Panel& panel : part.panels) last = std::max(last, panel.row);
  for (Panel& panel : part.panels) {
    if (panel.row != last || panel.column != 0) panel.legend = LegendPosition::none;
  }
}

/// Collects figures, one per area.
class JoinedPanels {
 public:
  explicit JoinedPanels(const CompositeOptions& options) : options_(options) {
    page_.name = "composite";
    page_.title = "Page of several figures";
    page_.width_mm = options.width_mm;
    if (options.font_size_pt > 0) page_.font_size_pt = options.font_size_pt;
  }

  void add(Figure&& part, const FigureArea& area) {
    const std::size_t index = page_.areas.size();
    const std::string letter = panel_letter(index);
    page_.areas.push_back(area);
    const std::vector<std::size_t> scales = take_scales(part, index);
    if (part.shared_legend && !options_.shared_legend) keep_one_legend(part);
    for (Panel& panel : part.panels) {
      panel.area = index;
      for (Mark& mark : panel.marks) {
        if (auto* map = std::get_if<HeatMap>(&mark)) {
          map->colour_scale = scales.at(map->colour_scale);
        }
      }
      page_.panels.push_back(std::move(panel));
    }
    for (auto& [name, values] : part.numbers) {
      page_.numbers[letter + "/" + name] = std::move(values);
    }
    for (std::string& model : part.models) {
      if (std::find(page_.models.begin(), page_.models.end(), model) == page_.models.end()) {
        page_.models.push_back(std::move(model));
      }
    }
    page_.caption += "(" + letter + ") " + without_program(part.caption) + " ";
  }

  Figure finish(double height_mm) {
    page_.shared_legend = options_.shared_legend;
    page_.height_mm = height_mm + shared_legend_mm(page_, page_.width_mm, options_);
    for (std::size_t scale = 0; scale < page_.colour_scales.size(); ++scale) {
      const std::vector<std::size_t>& users = users_[scale];
      if (users.size() < 2) continue;
      FigureArea bar;
      bar.x_mm = options_.width_mm - bar_mm;
      bar.width_mm = bar_mm;
      bar.y_mm = height_mm;
      double bottom = 0;
      for (const std::size_t user : users) {
        bar.y_mm = std::min(bar.y_mm, page_.areas[user].y_mm);
        bottom = std::max(bottom, page_.areas[user].y_mm + page_.areas[user].height_mm);
      }
      bar.height_mm = bottom - bar.y_mm;
      page_.colour_scales[scale].bar_area = page_.areas.size();
      page_.areas.push_back(bar);
    }
    page_.caption += made_with();
    if (options_.letters) page_ = dressed(std::move(page_), {.letters = true});
    return std::move(page_);
  }

 private:
  /// Moves the part's scales to the page; returns their indices there.
  std::vector<std::size_t> take_scales(Figure& part, std::size_t area) {
    std::vector<std::size_t> places;
    for (ColourScale& scale : part.colour_scales) {
      const auto known =
          std::find_if(page_.colour_scales.begin(), page_.colour_scales.end(),
                       [&](const ColourScale& other) { return same_quantity(other, scale); });
      if (options_.shared_colours && known != page_.colour_scales.end()) {
        widen(*known, scale);
        places.push_back(static_cast<std::size_t>(known - page_.colour_scales.begin()));
        std::vector<std::size_t>& users = users_[places.back()];
        if (users.back() != area) users.push_back(area);
      } else {
        places.push_back(page_.colour_scales.size());
        page_.colour_scales.push_back(std::move(scale));
        users_.push_back({area});
      }
    }
    return places;
  }

  const CompositeOptions& options_;
  Figure page_;
  std::vector<std::vector<std::size_t>> users_;  // areas of each scale
};

}  // namespace

FigureRequest cell_request(const FigureRequest& request, const PageCell& cell, double width_mm) {
  for (const std::size_t index : cell.subjects) {
    if (index < request.subjects.size()) continue;
    throw Error(ErrorKind::usage, "a figure of the page uses a model that was not given")
        .about(cell.figure + ", subjects")
        .expected("0 to " + std::to_string(std::ssize(request.subjects) - 1))
        .found(std::to_string(index));
  }
  FigureRequest own = cell.subjects.empty() ? request : with_subjects(request, cell.subjects);
  own.settings = cell.settings;
  own.width_mm = width_mm;
  return own;
}

Figure compose(const Page& page, const CompositeOptions& options, const MakeCell& make) {
  constexpr double narrowest_mm = 20;
  const double width_mm = options.width_mm - (options.shared_colours ? bar_mm : 0);
  JoinedPanels joined(options);
  double y = 0;
  for (const std::vector<PageCell>& row : page.rows) {
    double shares = 0;
    for (const PageCell& cell : row) shares += cell.share;
    const double room = width_mm - panel_gap_mm * static_cast<double>(row.size() - 1);
    std::vector<Figure> figures;
    double height = 0;
    for (const PageCell& cell : row) {
      const double width = room * cell.share / shares;
      if (width < narrowest_mm) {
        throw Error(ErrorKind::usage, "a figure of the page is too narrow")
            .about(cell.figure)
            .expected("at least 20 mm")
            .found(rounded_text(width) + " mm")
            .remedy("make the page wider, or put fewer figures into a row");
      }
      figures.push_back(make(cell, width));
      const double title_mm = cell.title.empty() ? 0 : 4;
      const double freed_mm = shared_legend_mm(figures.back(), width, options);
      height = std::max(height, figures.back().height_mm - freed_mm + title_mm);
    }
    double x = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double width = room * row[i].share / shares;
      joined.add(std::move(figures[i]), {x, y, width, height, row[i].title});
      x += width + panel_gap_mm;
    }
    y += height + panel_gap_mm;
  }
  Figure composed = joined.finish(std::max(y - panel_gap_mm, 1.0));
  make_text_showable(composed);  // titles of a page may come from a file too
  return composed;
}

}  // namespace attnscope
