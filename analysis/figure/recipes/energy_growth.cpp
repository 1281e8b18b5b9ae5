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

constexpr std::array<FigureSetting, 10> settings = {{
    {"mechanisms", "all",
     "all, or mechanisms separated by semicolons, parameters after them: softmax; hash bits=8"},
    parameters_setting,
    {"width", "384", "D, 1 to 65536"},
    {"heads", "6", "H, divides D"},
    {"least", "64", "the least number of tokens, 1 or more"},
    {"most", "65536", "the greatest number of tokens, up to 16777216"},
    {"crossings", "softmax", "which crossings are marked: softmax (with it), all or none"},
    {"projections", "yes", "yes: with the projections that feed the mechanism, or no"},
    {"convention", "complete", "whose accounting: adder, ecoformer or complete"},
    constants_setting,
}};

std::vector<MechanismChoice> mechanisms_of(const Settings& read, std::int64_t width) {
  const std::string& parameters = read.text("parameters");
  std::vector<MechanismChoice> mechanisms;
  if (read.text("mechanisms") == "all") {
    for (MechanismChoice& choice : mechanisms_for_growth(width)) {
      MechanismChoice set = parse_mechanism(choice.name, parameters);
      set.parameters.merge(choice.parameters);
      mechanisms.push_back(std::move(set));
    }
    return mechanisms;
  }
  for (const std::string& item : listed_items(read.text("mechanisms"))) {
    mechanisms.push_back(parse_mechanism(item, parameters));
  }
  if (mechanisms.empty()) throw Error(ErrorKind::usage, "no mechanism was given");
  return mechanisms;
}

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
  constexpr double kWidest = 65'536, kMostTokens = 16'777'216;
  const Settings read(request);
  GrowthOptions options;
  options.width = static_cast<std::int64_t>(read.number("width", 1, kWidest));
  options.heads = static_cast<std::int64_t>(read.number("heads", 1, kWidest));
  options.least_tokens = static_cast<std::int64_t>(read.number("least", 1, kMostTokens));
  options.most_tokens = static_cast<std::int64_t>(read.number("most", 1, kMostTokens));
  options.projections = read.flag("projections");
  options.convention = find_convention(read.text("convention"));
  options.constants = find_energy_constants(read.text("constants"));
  const std::size_t marked = read.choice("crossings", {"softmax", "all", "none"});
  const Growth growth = energy_growth(mechanisms_of(read, options.width), options);

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
    if (marked == 2 || (marked == 0 && !with_softmax)) continue;
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

extern const FigureRecipe energy_growth_recipe = {
    "energy-growth", "Energy of attention as tokens grow", "EcoFormer, 5.2", settings, make, true};

}  // namespace attnscope
