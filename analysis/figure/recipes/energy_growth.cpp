// How mechanisms' energy grows with the number of tokens, on logarithmic axes, with the points
// where one becomes cheaper than another.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/energy/growth.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/energy_networks.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_room.h"
#include "core/error.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Which crossings are marked.
enum class Marked { with_softmax, all, none };
constexpr EnumName<Marked> marked_names[] = {
    {Marked::with_softmax, "softmax"}, {Marked::all, "all"}, {Marked::none, "none"}};

/// Its parameters where two of the same name differ in them.
std::string label_of(const std::vector<GrowthCurve>& curves, const MechanismChoice& mechanism) {
  const bool ambiguous = std::any_of(curves.begin(), curves.end(), [&](const GrowthCurve& other) {
    return other.mechanism.name == mechanism.name && other.mechanism != mechanism;
  });
  return ambiguous ? to_string(mechanism) : mechanism.name;
}

Line line_of(const GrowthCurve& curve, std::size_t index, double pj) {
  constexpr LineStyle styles[] = {LineStyle::solid, LineStyle::dashed, LineStyle::dotted,
                                  LineStyle::dash_dotted};
  constexpr std::size_t kColours = 7;
  Line line;
  line.x = curve.tokens;
  for (const double energy : curve.energy_pj) line.y.push_back(energy / pj);
  line.colour = subject_colour(index);
  // Neighbours differ in dash, and those of one colour too.
  line.style = styles[(index + 2 * (index / kColours)) % 4];
  line.width_pt = curve.mechanism.name == "softmax" ? 1.6 : 1.0;
  return line;
}

Figure make(const FigureRequest& request, const Progress&) {
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
  for (std::size_t i = 0; i < growth.curves.size(); ++i) {
    Line line = line_of(growth.curves[i], i, unit.pj);
    line.label = label_of(growth.curves, growth.curves[i].mechanism);
    line.keys = {{"mechanism", to_string(growth.curves[i].mechanism)}};
    panel.marks.emplace_back(std::move(line));
    figure.numbers["energy_pj/" + to_string(growth.curves[i].mechanism)] =
        growth.curves[i].energy_pj;
    figure.numbers["tokens"] = growth.curves[i].tokens;
  }
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
  panel.x.logarithmic = panel.y.logarithmic = true;
  panel.x.minimum = static_cast<double>(options.least_tokens);
  panel.x.maximum = static_cast<double>(options.most_tokens);
  for (std::int64_t n = options.least_tokens; n <= options.most_tokens; n *= 4) {
    panel.x.ticks.push_back({static_cast<double>(n), std::to_string(n)});
  }
  panel.y.label = "energy of a layer (" + unit.name + ")";
  panel.legend = LegendPosition::below;
  figure.panels.push_back(std::move(panel));
  figure.title = "Energy of attention as tokens grow";
  figure.height_mm = 0.7 * request.width_mm + legend_mm(figure, request.width_mm) + 3;
  figure.caption = "Energy of one attention layer" +
                   std::string(options.projections ? ", projections included" : ", core alone") +
                   ", D = " + std::to_string(options.width) +
                   ", H = " + std::to_string(options.heads) +
                   "; accounting: " + std::string(name_of(options.convention)) +
                   "; energy per operation: " + options.constants.title + ". " +
                   (crossings.empty() ? "" : "Crossings: " + crossings + ". ") + made_with();
  return figure;
}

}  // namespace

FigureRecipe energy_growth_recipe() {
  return {.name = "energy-growth",
          .title = "Energy of attention as tokens grow",
          .source = "EcoFormer, 5.2",
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
          .make = make};
}

}  // namespace attnscope
