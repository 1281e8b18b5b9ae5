// Figure of the energy of networks by component or by layer, as stacked bars.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipes/energy_networks.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/text_layout.h"
#include "analysis/figure/ticks.h"
#include "core/error.h"

namespace attnscope {

namespace {

Texts broken_down_networks() {
  return {"deit-tiny", "deit-tiny mechanism=adder arithmetic=adder", "deit-tiny mechanism=hash"};
}

struct Stack {
  double x = 0;
  std::vector<double> by_kind;  // energy in pJ, by kind of component
  double traffic = 0;           // energy of the memory traffic in pJ
};

void add_to(Stack& stack, const ComponentCost& component, const EnergyConstants& constants) {
  stack.by_kind.resize(component_kinds().size(), 0.0);
  stack.by_kind[kind_of(component)] += operations_energy_pj(component.count, constants);
  stack.traffic += traffic_energy_pj(component.count, constants);
}

/// Adds one series per kind of component that any stack has or that the legend shows.
void add_bars(Panel& panel, const std::vector<Stack>& stacks, double scale,
              const std::set<std::size_t>& in_legend, double width) {
  for (std::size_t kind = 0; kind < component_kinds().size(); ++kind) {
    Bars bars;
    bars.keys = {{"component", std::string(component_kinds()[kind])}};
    bars.width = width;
    bars.colour = kind_colour(kind);
    double sum = 0;
    for (const Stack& stack : stacks) {
      bars.x.push_back(stack.x);
      bars.heights.push_back(stack.by_kind.empty() ? 0 : stack.by_kind[kind] * scale);
      sum += bars.heights.back();
    }
    if (sum <= 0 && !in_legend.contains(kind)) continue;
    if (in_legend.contains(kind)) bars.label = component_kinds()[kind];
    panel.marks.emplace_back(std::move(bars));
  }
}

/// Kinds of components that occur in any network, or in the layers of any network.
std::set<std::size_t> kinds_in(const std::vector<CountedNetwork>& networks, bool layers_only) {
  std::set<std::size_t> kinds;
  for (const CountedNetwork& network : networks) {
    for (const PartCost& part : network.cost.parts) {
      if (layers_only && part.layer < 0) continue;
      for (const ComponentCost& component : part.components) {
        if (operations_energy_pj(component.count, network.subject.constants) > 0) {
          kinds.insert(kind_of(component));
        }
      }
    }
  }
  return kinds;
}

double total_pj(const CountedNetwork& network) {
  return operations_energy_pj(network.cost.total(), network.subject.constants);
}

Panel network_panel(const std::vector<CountedNetwork>& networks, double scale, bool traffic) {
  Panel panel;
  std::vector<Stack> stacks;
  Bars moved;
  moved.label = "memory traffic";
  moved.keys = {{"component", moved.label}};
  moved.colour = {225, 225, 225, 255};
  moved.width = traffic ? 0.3 : 0.6;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    Stack stack;
    stack.x = static_cast<double>(i) - (traffic ? 0.18 : 0);
    for (const ComponentCost& component : networks[i].cost.by_component()) {
      add_to(stack, component, networks[i].subject.constants);
    }
    moved.x.push_back(static_cast<double>(i) + 0.18);
    moved.heights.push_back(stack.traffic * scale);
    stacks.push_back(std::move(stack));
  }
  add_bars(panel, stacks, scale, kinds_in(networks, false), moved.width);
  if (traffic) panel.marks.emplace_back(std::move(moved));
  return panel;
}

Panel layer_panel(const CountedNetwork& network, double scale,
                  const std::set<std::size_t>& in_legend, std::int64_t first_layer) {
  std::vector<Stack> stacks;
  for (const PartCost& part : network.cost.parts) {
    if (part.layer < 0) continue;
    Stack stack;
    stack.x = static_cast<double>(part.layer + first_layer);
    for (const ComponentCost& component : part.components) {
      add_to(stack, component, network.subject.constants);
    }
    stacks.push_back(std::move(stack));
  }
  Panel panel;
  add_bars(panel, stacks, scale, in_legend, 0.8);
  panel.title = network.short_label;
  panel.keys = {{"model", network.label}};
  panel.x.label = panel.x.key = "layer";
  const auto first = static_cast<double>(first_layer);
  panel.x.minimum = first - 0.6;
  panel.x.maximum = first + static_cast<double>(stacks.size()) - 0.4;
  panel.x.ticks = layer_ticks(std::ssize(stacks), first_layer);
  return panel;
}

double tallest(const Panel& panel) {
  std::map<double, double> heights;
  for (const Mark& mark : panel.marks) {
    if (const auto* bars = std::get_if<Bars>(&mark)) {
      for (std::size_t i = 0; i < bars->x.size(); ++i) heights[bars->x[i]] += bars->heights[i];
    }
  }
  double most = 0;
  for (const auto& [x, height] : heights) most = std::max(most, height);
  return most;
}

/// Index of the network that energies are relative to; empty for absolute energies.
std::optional<std::size_t> reference_of(const Settings& read, std::size_t networks) {
  if (read.is("relative", "no")) return std::nullopt;
  if (read.is("relative", "yes")) return 0;
  const auto number = static_cast<std::size_t>(read.whole("relative"));
  if (number <= networks) return number - 1;
  throw Error(ErrorKind::usage, "the reference network does not exist")
      .about("relative")
      .expected("1 to " + std::to_string(networks))
      .found(std::to_string(number));
}

Figure make_energy_breakdown(const FigureRequest& request, const Progress&) {
  const Settings read(request);
  const std::vector<CountedNetwork> networks = counted_networks(request, broken_down_networks());
  const bool by_layer = read.is("by", "layer");
  const std::optional<std::size_t> reference = reference_of(read, networks.size());
  const bool traffic = read.flag("traffic") && !by_layer;

  double largest = 0;
  for (const CountedNetwork& network : networks) largest = std::max(largest, total_pj(network));
  if (by_layer) largest /= static_cast<double>(networks.front().cost.parts.size());
  const EnergyUnit unit = energy_unit(largest);
  const double scale = reference ? 100 / total_pj(networks[*reference]) : 1 / unit.pj;
  const std::string axis = reference ? "energy (% of " + networks[*reference].short_label + ")"
                                     : "energy (" + unit.name + ")";

  Figure figure;
  double ticks_mm = 0;
  if (by_layer) {
    double most = 0;
    for (std::size_t i = 0; i < networks.size(); ++i) {
      // One legend below the first panel serves all panels.
      Panel panel = layer_panel(networks[i], scale,
                                i == 0 ? kinds_in(networks, true) : std::set<std::size_t>{},
                                request.first_layer);
      panel.column = static_cast<std::int64_t>(i);
      if (i == 0) panel.y.label = axis;
      most = std::max(most, tallest(panel));
      figure.panels.push_back(std::move(panel));
    }
    // All panels share one y range, so that bars are comparable.
    for (Panel& panel : figure.panels) {
      panel.y.minimum = 0;
      panel.y.maximum = 1.05 * most;
    }
  } else {
    Panel panel = network_panel(networks, scale, traffic);
    constexpr double y_axis_mm = 12;
    ticks_mm = add_network_ticks(panel.x, networks, request.width_mm - y_axis_mm);
    panel.y.label = axis;
    panel.y.minimum = 0;
    panel.y.maximum = 1.05 * tallest(panel);
    figure.panels.push_back(std::move(panel));
  }
  figure.panels.front().legend = LegendPosition::below;
  figure.title = by_layer ? "Energy by layer" : "Energy by component";
  figure.height_mm = 0.62 * request.width_mm + legend_mm(figure, request.width_mm) + 6 + ticks_mm;
  figure.caption = figure.title + " of one input: " + networks_in_words(networks) + ". ";
  for (const CountedNetwork& network : networks) {
    figure.numbers["energy_pj/" + network.label] = {total_pj(network)};
    for (const ComponentCost& component : network.cost.by_component()) {
      figure.numbers["energy_pj/" + network.label + "/" + component.count.component].push_back(
          operations_energy_pj(component.count, network.subject.constants));
    }
  }
  figure.caption += made_with();
  return figure;
}

}  // namespace

FigureRecipe energy_breakdown_recipe() {
  return {
      .name = "energy-breakdown",
      .title = "Energy by component",
      .source = "EcoFormer, Table 1",
      .question = FigureQuestion::cost,
      .has_panel = true,
      .settings = {networks_setting(), network_mechanisms_setting(), tokens_setting(),
                   parameters_setting(),
                   setting::choice("by", {"network", "layer"}, "network",
                                   "a bar a network, or a bar a layer and a panel a network"),
                   setting::whole("relative", 1, {.minimum = 1},
                                  "the number of the network it is relative to, from 1; yes: to "
                                  "the first")
                       .or_word({"no", "yes"})
                       .by_default("no"),
                   convention_setting(), constants_setting(),
                   setting::flag("traffic", false,
                                 "memory traffic as a bar of its own (complete accounting only)")},
      .needs = network_needs,
      .make = make_energy_breakdown};
}

}  // namespace attnscope
