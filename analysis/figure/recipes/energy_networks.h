// What the energy figures share: which networks they show, and how components are gathered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/energy/request.h"
#include "analysis/figure/figure.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"

namespace attnscope {

using Texts = std::vector<std::string>;

/// A network in a figure, counted.
struct CountedNetwork {
  std::string label;  ///< short: what tells it from the others
  EnergySubject subject;
  NetworkCost cost;
  std::string short_label = {};  ///< what tells it from the others, where all are open models
};

/// Settings that figures of counted networks have.
[[nodiscard]] ParameterDescription networks_setting();
[[nodiscard]] ParameterDescription network_mechanisms_setting();
/// Those of figures of single layers: all mechanisms, or some.
[[nodiscard]] ParameterDescription layer_mechanisms_setting();
[[nodiscard]] ParameterDescription tokens_setting();
[[nodiscard]] ParameterDescription parameters_setting();
[[nodiscard]] ParameterDescription convention_setting(
    CostConvention otherwise = CostConvention::complete);
[[nodiscard]] ParameterDescription constants_setting();

/// Energy figures show what networks cost, which needs no run of them, and networks of their own.
inline constexpr FigureNeeds network_needs{.subject = SubjectNeed::model, .least = 0};

/// The request's subjects, each with its model, then those of the setting "networks"; `otherwise`
/// if there are none; each under every one of "mechanisms". All with the
/// settings "convention", "constants" and "tokens" unless they say their own, and with those of
/// "parameters" their mechanism has. Throws Error(usage) for what cannot be counted.
[[nodiscard]] std::vector<CountedNetwork> counted_networks(const FigureRequest& request,
                                                           const Texts& otherwise);

/// The mechanisms of layer_mechanisms_setting, with the setting "parameters". `all`: what stands
/// for "all", with parameters that fit the layer. Throws Error(usage).
[[nodiscard]] std::vector<MechanismChoice> chosen_mechanisms(
    const Settings& read, const std::vector<MechanismChoice>& all);

/// A mechanism written "hash bits=8", with those of `parameters` that it has and does not say
/// itself. Throws Error(usage) for an unknown name or a value out of range.
[[nodiscard]] MechanismChoice parse_mechanism(const std::string& text,
                                              const Texts& parameters = {});

/// The kinds of components a bar is stacked of, in their order.
[[nodiscard]] const std::vector<std::string>& component_kinds();
/// The index among them of a component.
[[nodiscard]] std::size_t kind_of(const ComponentCost& component);
/// Its colour; different from its neighbours' in lightness too.
[[nodiscard]] Colour kind_colour(std::size_t kind);

/// "DeiT-T, softmax (complete accounting); …", and the constants.
[[nodiscard]] std::string networks_in_words(const std::vector<CountedNetwork>& networks);

/// A tick a network under an axis so wide; turned where their labels would run into each other.
/// Returns by how many mm these stand higher than one line.
double add_network_ticks(Axis& axis, const std::vector<CountedNetwork>& networks, double axis_mm);

/// pJ as the unit that suits `largest_pj`: its name, and how many pJ it is.
struct EnergyUnit {
  std::string name;
  double pj = 1;
};
[[nodiscard]] EnergyUnit energy_unit(double largest_pj);

}  // namespace attnscope
