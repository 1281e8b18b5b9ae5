// Figure of the energy of mechanisms over the number of tokens, on logarithmic axes, with the
// points where one becomes cheaper than another.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "analysis/energy/growth.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/energy_networks.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Selection of the crossings that are marked.
enum class Marked { with_softmax, all, none };
constexpr EnumName<Marked> marked_names[] = {
    {Marked::with_softmax, "softmax"}, {Marked::all, "all"}, {Marked::none, "none"}};

constexpr std::size_t kColours = 7;  // number of colours that subject_colour has

/// Name of a mechanism, with its parameters if another one has the same name.
std::string label_of(const std::vector<GrowthCurve>& curves, const MechanismChoice& mechanism) {
  const bool ambiguous = std::any_of(curves.begin(), curves.end(), [&](const GrowthCurve& other) {
    return other.mechanism.name == mechanism.name && other.mechanism != mechanism;
  });
  return ambiguous ? to_string(mechanism) : mechanism.name;
}

/// Vertical positions of texts of height `line_mm`, as close as possible to the `wanted` positions
/// (ascending, in mm), without overlap and between 0 and `height_mm`. Texts that would overlap form
/// a block around the mean of their positions.
std::vector<double> spread(const std::vector<double>& wanted, double line_mm, double height_mm) {
  struct Block {
    double middle, count;
    [[nodiscard]] double half(double line) const { return (count - 1) * line / 2; }
  };
  std::vector<Block> blocks;
  for (const double height : wanted) {
    Block block{height, 1};
    const auto inside = [&] {
      const double half = block.half(line_mm);
      block.middle = std::max(half, std::min(block.middle, height_mm - half));
    };
    inside();
    while (!blocks.empty() && blocks.back().middle + blocks.back().half(line_mm) + line_mm >
                                  block.middle - block.half(line_mm)) {
      const Block& under = blocks.back();
      const double count = under.count + block.count;
      block = {(under.middle * under.count + block.middle * block.count) / count, count};
      blocks.pop_back();
      inside();
    }
    blocks.push_back(block);
  }
  std::vector<double> at;
  for (const Block& block : blocks) {
    for (int i = 0; i < block.count; ++i) {
      at.push_back(block.middle - block.half(line_mm) + i * line_mm);
    }
  }
  return at;
}

/// Adds the curves. The dearest seven at the largest N are solid, the next seven dashed, and so on:
/// each group has the seven colours that any vision tells apart, in the order of the labels. Groups
/// after the fourth have thin lines in these styles.
void add_curves(Panel& panel, const Growth& growth, double pj) {
  constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dotted,
                                  LineStyle::dash_dotted};
  for (const GrowthCurve& curve : growth.curves) {
    const auto rank = static_cast<std::size_t>(
        std::ranges::count_if(growth.curves, [&curve](const GrowthCurve& other) {
          const double energy = curve.energy_pj.back(), others = other.energy_pj.back();
          return others > energy || (others == energy && &other < &curve);
        }));
    Line line;
    line.name = label_of(growth.curves, curve.mechanism);
    line.keys = {{"mechanism", to_string(curve.mechanism)}};
    line.x = curve.tokens;
    for (const double energy : curve.energy_pj) line.y.push_back(energy / pj);
    line.colour = subject_colour(rank % kColours);
    line.style = styles[rank / kColours % std::size(styles)];
    line.width_pt = curve.mechanism.name == "softmax"     ? 1.6
                    : rank < kColours * std::size(styles) ? 1.0
                                                          : 0.5;
    panel.marks.emplace_back(std::move(line));
  }
}

/// Labels every curve at its right end, in its colour, and widens the axis for the labels.
void label_curves(Panel& panel, double width_mm, double height_mm) {
  constexpr double text_mm = 6.25 * 25.4 / 72, line_mm = 1.12 * text_mm;  // text size in panels
  constexpr double gap_mm = 1.2, y_axis_mm = 15;
  std::vector<const Line*> lines;
  double widest_ems = 0;
  for (const Mark& mark : panel.marks) {
    lines.push_back(&std::get<Line>(mark));
    widest_ems = std::max(widest_ems, text_ems(lines.back()->name));
  }
  std::sort(lines.begin(), lines.end(),
            [](const Line* a, const Line* b) { return a->y.back() < b->y.back(); });
  const double axes_mm = width_mm - y_axis_mm;
  const double room_mm = std::min(widest_ems * text_mm + 2 * gap_mm, axes_mm / 2);
  const double low = std::log(*panel.y.minimum), high = std::log(*panel.y.maximum);
  const double left = std::log(*panel.x.minimum), right = std::log(*panel.x.maximum);
  const double per_mm = (right - left) / (axes_mm - room_mm);
  panel.x.maximum = std::exp(right + room_mm * per_mm);
  std::vector<double> wanted;
  wanted.reserve(lines.size());
  for (const Line* line : lines) {
    wanted.push_back((std::log(line->y.back()) - low) / (high - low) * height_mm);
  }
  const std::vector<double> at = spread(wanted, line_mm, height_mm - line_mm / 2);
  std::vector<TextMark> names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    names.push_back({.x = std::exp(right + gap_mm / 2 * per_mm),
                     .y = std::exp(low + at[i] / height_mm * (high - low)),
                     .text = lines[i]->name,
                     .colour = lines[i]->colour,
                     .align = TextAlign::start});
  }
  for (TextMark& name : names) panel.marks.emplace_back(std::move(name));
}

Figure make_energy_growth(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  GrowthOptions options;
  options.width = read.whole("width");
  options.heads = read.whole("heads");
  options.least_tokens = read.whole("least");
  options.most_tokens = read.whole("most");
  options.projections = read.flag("projections");
  options.convention = read.choice("convention", cost_convention_names);
  options.constants = find_energy_constants(read.text("constants"));
  const Marked marked = read.choice("crossings", marked_names);
  const Growth growth =
      energy_growth(chosen_mechanisms(read, mechanisms_for_growth(options.width)), options);

  Figure figure;
  Panel panel;
  double largest = 0;
  for (const GrowthCurve& curve : growth.curves) {
    largest = std::max(largest, curve.energy_pj.back());
  }
  const EnergyUnit unit = energy_unit(largest);
  add_curves(panel, growth, unit.pj);
  double least = largest;
  for (const GrowthCurve& curve : growth.curves) {
    least = std::min(least, curve.energy_pj.front());
    figure.numbers["energy_pj/" + to_string(curve.mechanism)] = curve.energy_pj;
    figure.numbers["tokens"] = curve.tokens;
  }
  panel.x.logarithmic = panel.y.logarithmic = true;
  panel.x.minimum = static_cast<double>(options.least_tokens);
  panel.x.maximum = static_cast<double>(options.most_tokens);
  panel.y.minimum = 0.7 * least / unit.pj;
  panel.y.maximum = 1.5 * largest / unit.pj;
  // Every label has its own line.
  const double names_mm = 2.6 * static_cast<double>(growth.curves.size());
  const double axes_mm = std::max(0.6 * request.width_mm, names_mm);
  label_curves(panel, request.width_mm, axes_mm);
  std::string crossings;
  Line marks;
  marks.style = LineStyle::none;
  marks.marker = MarkerShape::cross;
  marks.colour = {20, 20, 20, 255};
  for (const Crossing& crossing : growth.crossings) {
    const MechanismChoice& dearer = growth.curves[crossing.first].mechanism;
    const MechanismChoice& cheaper = growth.curves[crossing.second].mechanism;
    figure.numbers["crossing/" + to_string(cheaper) + " below " + to_string(dearer)].push_back(
        static_cast<double>(crossing.tokens));
    const bool with_softmax = dearer.name == "softmax" || cheaper.name == "softmax";
    if (marked == Marked::none || (marked == Marked::with_softmax && !with_softmax)) continue;
    marks.x.push_back(static_cast<double>(crossing.tokens));
    marks.y.push_back(crossing.energy_pj / unit.pj);
    crossings += (crossings.empty() ? "" : ", ") + cheaper.name + " costs less than " +
                 dearer.name + " from N = " + std::to_string(crossing.tokens);
  }
  if (!marks.x.empty()) {
    marks.label = "crossing";
    panel.marks.emplace_back(std::move(marks));
  }
  panel.x.label = "tokens N";
  for (std::int64_t n = options.least_tokens; n <= options.most_tokens; n *= 4) {
    panel.x.ticks.push_back({static_cast<double>(n), std::to_string(n)});
  }
  panel.y.label = "energy of a layer (" + unit.name + ")";
  panel.legend = LegendPosition::below;
  figure.panels.push_back(std::move(panel));
  figure.title = "Energy of attention as tokens grow";
  constexpr double kBelowMm = 10;  // height of the axis of tokens
  figure.height_mm = axes_mm + kBelowMm + legend_mm(figure, request.width_mm);
  figure.caption = "Energy of one attention layer" +
                   std::string(options.projections ? ", projections included" : ", core alone") +
                   ", D = " + std::to_string(options.width) +
                   ", H = " + std::to_string(options.heads) +
                   "; accounting: " + std::string(name_of(options.convention)) +
                   "; energy per operation: " + options.constants.title + ". " +
                   (growth.curves.size() > kColours
                        ? "Solid: the seven dearest at the largest N, dashed, dotted and thin: "
                          "those below, in the order of their names. "
                        : "") +
                   (crossings.empty() ? "" : "Crossings: " + crossings + ". ") + made_with();
  return figure;
}

}  // namespace

FigureRecipe energy_growth_recipe() {
  return {.name = "energy-growth",
          .title = "Energy of attention as tokens grow",
          .source = "EcoFormer, 5.2",
          .question = FigureQuestion::cost,
          .has_panel = true,
          .settings =
              {layer_mechanisms_setting(), parameters_setting(),
               setting::whole("width", 384, {1, 65'536}, "D, channels of the layer"),
               setting::whole("heads", 6, {1, 65'536}, "H, divides D"),
               setting::whole("least", 64, {1, 16'777'216}, "where the axis begins").in("tokens"),
               setting::whole("most", 65'536, {1, 16'777'216}, "where the axis ends").in("tokens"),
               setting::choice("crossings", names_of(marked_names), "softmax",
                               "which crossings are marked: those with softmax, all or none"),
               setting::flag("projections", true, "with the projections that feed the mechanism"),
               convention_setting(), constants_setting()},
          .needs = network_needs,
          .make = make_energy_growth};
}

}  // namespace attnscope
