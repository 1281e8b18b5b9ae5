// Figure of the tokens over depth: their similarity, and the contribution of each part.
#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/depth/token_flow.h"
#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/series_style.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"

namespace attnscope {

namespace {

struct FlowMeasure {
  std::string_view name, title, formula;
  double TokenFlow::*value;
};

constexpr std::array kFlowMeasures = std::to_array<FlowMeasure>(
    {{"similarity", "mean cosine of two tokens", "(‖Σ x_i/‖x_i‖‖² − N) / (N(N − 1))",
      &TokenFlow::similarity},
     {"centred-norm", "‖X − 1x̄ᵀ‖ / ‖X‖", "‖X − 1x̄ᵀ‖ / ‖X‖", &TokenFlow::centred_norm},
     {"update", "update ‖Δx‖ / ‖x‖", "mean of ‖x_l − x_{l−1}‖ / ‖x_{l−1}‖", &TokenFlow::update},
     {"attention", "‖attention‖ / ‖x‖", "mean of ‖attention_i‖ / ‖x_{l−1,i}‖",
      &TokenFlow::attention},
     {"mlp", "‖MLP‖ / ‖x‖", "mean of ‖MLP_i‖ / ‖x_i‖, x what it is added to", &TokenFlow::mlp},
     {"norm", "mean token norm", "mean of ‖x_i‖", &TokenFlow::norm},
     {"outlier", "largest / median norm", "max ‖x_i‖ / median ‖x_i‖", &TokenFlow::greatest_norm}});

/// Layer → mean over the inputs of a group for which the measure is known.
std::map<std::int64_t, double> means_over_inputs(const std::vector<std::vector<TokenFlow>>& inputs,
                                                 const FlowMeasure& measure) {
  std::map<std::int64_t, std::pair<double, double>> sums;
  for (const std::vector<TokenFlow>& flows : inputs) {
    for (const TokenFlow& flow : flows) {
      const double value = flow.*measure.value;
      if (!std::isfinite(value)) continue;
      auto& [sum, count] = sums[flow.layer];
      sum += value;
      ++count;
    }
  }
  std::map<std::int64_t, double> means;
  for (const auto& [layer, sum] : sums) means[layer] = sum.first / sum.second;
  return means;
}

struct DepthFlows {
  std::vector<SubjectGroup> groups;
  std::vector<std::vector<std::vector<TokenFlow>>> flows;  ///< [group][input][depth]
  std::int64_t layers = 0;
};

DepthFlows depth_flows(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  DepthFlows all;
  all.groups = subject_groups(request, averages_inputs(read));
  double done = 0;
  for (const SubjectGroup& group : all.groups) {
    auto& inputs = all.flows.emplace_back();
    for (const std::size_t member : group.subjects) {
      progress.step(done++ / static_cast<double>(request.subjects.size()), "tokens over depth");
      const Subject& subject = request.subjects[member];
      inputs.push_back(token_flow(subject));
      all.layers = std::max(all.layers, std::ssize(subject.trace->layers));
    }
  }
  return all;
}

Panel flow_panel(const DepthFlows& all, const FlowMeasure& measure, std::int64_t first_layer,
                 bool embedded) {
  Panel panel;
  const auto first = static_cast<double>(first_layer);
  panel.x.key = "layer";
  panel.x.minimum = first - (embedded ? 1.35 : 0.35);
  panel.x.maximum = first + static_cast<double>(all.layers) - 0.65;
  panel.x.ticks = layer_ticks(all.layers, first_layer);
  if (embedded) panel.x.ticks.insert(panel.x.ticks.begin(), {first - 1, "in"});
  panel.y.label = std::string(measure.title);
  panel.keys = {{"measure", std::string(measure.name)}};
  if (measure.value != &TokenFlow::similarity) panel.y.minimum = 0;
  return panel;
}

Figure make_tokens_over_depth(const FigureRequest& request, const Progress& progress) {
  const Settings read(request);
  const DepthFlows all = depth_flows(request, progress);
  Figure figure;
  std::string formulas;
  std::int64_t shown = 0;
  for (const std::string& name : read.names("measures")) {
    const auto* const measure = std::ranges::find(kFlowMeasures, name, &FlowMeasure::name);
    std::vector<std::map<std::int64_t, double>> curves;
    bool embedded = false, known = false;
    for (const auto& inputs : all.flows) {
      curves.push_back(means_over_inputs(inputs, *measure));
      known = known || !curves.back().empty();
      embedded = embedded || curves.back().contains(-1);
    }
    if (!known) continue;  // e.g. the contribution of MLPs, which is unknown for post-LN models
    Panel panel = flow_panel(all, *measure, request.first_layer, embedded);
    panel.row = shown / 2;
    panel.column = shown % 2;
    for (std::size_t group = 0; group < curves.size(); ++group) {
      Line line;
      line.label = all.groups[group].short_label;
      line.colour = subject_colour(group);
      line.marker = subject_marker(group);
      line.keys = {{"model", all.groups[group].label}};
      for (const auto& [layer, value] : curves[group]) {
        line.x.push_back(static_cast<double>(layer + request.first_layer));
        line.y.push_back(value);
      }
      figure.numbers[name + "/" + all.groups[group].label] = line.y;
      panel.marks.emplace_back(std::move(line));
    }
    figure.panels.push_back(std::move(panel));
    formulas += (formulas.empty() ? "" : "; ") + std::string(measure->title) + ": " +
                std::string(measure->formula);
    ++shown;
  }
  if (shown == 0)
    throw Error(ErrorKind::usage, "none of these quantities is known for the recorded tokens");
  const bool legend = !read.is("legend", "none") && all.groups.size() > 1;
  figure.shared_legend = legend;
  for (Panel& panel : figure.panels) {
    panel.legend = legend ? LegendPosition::below : LegendPosition::none;
    const std::int64_t place = 2 * panel.row + panel.column;
    if (place + 2 >= shown) panel.x.label = "after layer";
  }
  const double across = shown > 1 ? 0.4 : 0.55;
  figure.height_mm = static_cast<double>((shown + 1) / 2) * across * request.width_mm + 3 +
                     legend_mm(figure, request.width_mm);
  figure.caption =
      "The tokens over depth: " + formulas + ". " + subjects_in_words(request) + ". " + made_with();
  return figure;
}

}  // namespace

FigureRecipe tokens_over_depth_recipe() {
  std::vector<std::string> names;
  for (const FlowMeasure& measure : kFlowMeasures) names.emplace_back(measure.name);
  return {.name = "tokens-over-depth",
          .title = "Tokens over depth",
          .source = "Dong et al. 2021; Kobayashi et al. 2021",
          .question = FigureQuestion::heads,
          .settings = {setting::names("measures", names,
                                      {"similarity", "centred-norm", "attention", "mlp"},
                                      "a panel each; those that are not known are left out"),
                       inputs_setting(), legend_setting()},
          .needs = {.subject = SubjectNeed::run, .vectors = true},
          .make = make_tokens_over_depth};
}

}  // namespace attnscope
