// What the energy figures share: which networks they show, and how components are gathered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/energy/request.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/recipe.h"

namespace attnscope {

/// A network in a figure, counted.
struct CountedNetwork {
  std::string label;  ///< short: what tells it from the others
  EnergySubject subject;
  NetworkCost cost;
};

/// The request's subjects, each with its model, then those of the setting "networks", separated by
/// semicolons; `otherwise` if there are none. All with the settings "convention" and "constants"
/// unless they say their own. Throws Error(usage) for what cannot be counted.
[[nodiscard]] std::vector<CountedNetwork> counted_networks(const FigureRequest& request,
                                                           const std::string& otherwise);

/// The kinds of components a bar is stacked of, in their order.
[[nodiscard]] const std::vector<std::string>& component_kinds();
/// The index among them of a component.
[[nodiscard]] std::size_t kind_of(const ComponentCost& component);
/// Its colour; different from its neighbours' in lightness too.
[[nodiscard]] Colour kind_colour(std::size_t kind);

/// "DeiT-T, softmax (complete accounting); …", and the constants.
[[nodiscard]] std::string networks_in_words(const std::vector<CountedNetwork>& networks);

/// pJ as the unit that suits `largest_pj`: its name, and how many pJ it is.
struct EnergyUnit {
  std::string name;
  double pj = 1;
};
[[nodiscard]] EnergyUnit energy_unit(double largest_pj);

}  // namespace attnscope
