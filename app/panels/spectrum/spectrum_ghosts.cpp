#include "app/panels/spectrum/spectrum_ghosts.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/figure/series_style.h"

namespace attnscope {

namespace {

constexpr int kFaint = 90, kFaintBand = 18;

/// The model that a mark belongs to; empty if it belongs to none.
std::string subject_of(const Keys& keys) {
  for (const auto& [name, value] : keys) {
    if (name == "model") return value;
  }
  return {};
}

void make_faint(Mark& mark) {
  if (auto* const line = std::get_if<Line>(&mark)) line->colour = with_alpha(line->colour, kFaint);
  if (auto* const point = std::get_if<PointMark>(&mark)) {
    point->colour = with_alpha(point->colour, kFaint);
  }
  if (auto* const rule = std::get_if<Rule>(&mark)) rule->colour = with_alpha(rule->colour, kFaint);
  if (auto* const band = std::get_if<Band>(&mark)) {
    band->colour = with_alpha(band->colour, kFaintBand);
  }
}

bool is_ghost(const Keys& keys) { return subject_of(keys).find(kAsItIs) != std::string::npos; }

}  // namespace

void fade_other_view(Figure& figure, IdentityView view) {
  if (view == IdentityView::as_is) return;
  const LineStyle shown = view == IdentityView::with ? LineStyle::dashed : LineStyle::solid;
  for (Panel& panel : figure.panels) {
    bool fades = false;
    for (Mark& mark : panel.marks) {
      if (const auto* const line = std::get_if<Line>(&mark)) {
        const bool of_subject = !subject_of(line->keys).empty();
        fades = of_subject && line->style != shown;
        if (fades) make_faint(mark);
      } else if (fades && std::holds_alternative<PointMark>(mark)) {
        make_faint(mark);
      }
    }
  }
}

void add_ghosts(Figure& figure, const Figure& before) {
  if (figure.panels.size() != before.panels.size()) return;
  for (std::size_t index = 0; index < figure.panels.size(); ++index) {
    std::vector<Mark> ghosts;
    bool explained = false;
    for (const Mark& mark : before.panels[index].marks) {
      if (const auto* const line = std::get_if<Line>(&mark)) {
        if (!is_ghost(line->keys)) continue;
        Line ghost = *line;
        ghost.style = LineStyle::dotted;
        ghost.width_pt *= 1.4;
        // All ghosts share one legend entry.
        ghost.name = ghost.label;
        ghost.label = explained ? "" : "as it is";
        explained = true;
        ghosts.emplace_back(std::move(ghost));
      } else if (const auto* const point = std::get_if<PointMark>(&mark)) {
        if (!is_ghost(point->keys)) continue;
        ghosts.emplace_back(*point);
      } else {
        continue;
      }
      make_faint(ghosts.back());
    }
    auto& marks = figure.panels[index].marks;
    marks.insert(marks.begin(), ghosts.begin(), ghosts.end());
  }
}

}  // namespace attnscope
