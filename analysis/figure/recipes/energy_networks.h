// Settings, networks and components shared by the energy figures.
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

/// A network in a figure, with its operation counts.
struct CountedNetwork {
  std::string label;  ///< label that distinguishes it from the other networks
  EnergySubject subject;
  NetworkCost cost;
  std::string short_label = {};  ///< short label if all are open models, else `label`
};

/// Settings of figures of whole networks.
[[nodiscard]] ParameterDescription networks_setting();
[[nodiscard]] ParameterDescription network_mechanisms_setting();
/// The mechanisms of figures of single layers: all, or some.
[[nodiscard]] ParameterDescription layer_mechanisms_setting();
[[nodiscard]] ParameterDescription tokens_setting();
[[nodiscard]] ParameterDescription parameters_setting();
[[nodiscard]] ParameterDescription convention_setting(
    CostConvention otherwise = CostConvention::complete);
[[nodiscard]] ParameterDescription constants_setting();

/// Energy figures show the costs of models, which need not have run, and of networks without
/// weights.
inline constexpr FigureNeeds network_needs{.subject = SubjectNeed::model, .least = 0};

/// The request's subjects, each with its model, then the networks of the setting "networks";
/// `otherwise` if there are none of either; each with every one of "mechanisms". All have the
/// settings "convention", "constants" and "tokens" unless they specify their own, and those of
/// "parameters" that their mechanism has. Throws Error(usage) for networks that cannot be counted.
[[nodiscard]] std::vector<CountedNetwork> counted_networks(const FigureRequest& request,
                                                           const Texts& otherwise);

/// The mechanisms of layer_mechanisms_setting, with the setting "parameters". `all` is the value of
/// "all", with parameters that fit the layer. Throws Error(usage).
[[nodiscard]] std::vector<MechanismChoice> chosen_mechanisms(
    const Settings& read, const std::vector<MechanismChoice>& all);

/// Kinds of components that a bar is stacked of, in their order.
[[nodiscard]] const std::vector<std::string>& component_kinds();
/// Index of a component's kind.
[[nodiscard]] std::size_t kind_of(const ComponentCost& component);
/// Colour of a kind; neighbours also differ in lightness.
[[nodiscard]] Colour kind_colour(std::size_t kind);

/// Description of the networks for a caption: "DeiT-T, softmax (complete accounting); …", with the
/// constants.
[[nodiscard]] std::string networks_in_words(const std::vector<CountedNetwork>& networks);

/// Adds a tick per network to an axis of this length, with turned labels if they would overlap.
/// Returns the additional height in mm of turned labels.
double add_network_ticks(Axis& axis, const std::vector<CountedNetwork>& networks, double axis_mm);

/// Unit of energy suitable for `largest_pj`: its name and its value in pJ.
struct EnergyUnit {
  std::string name;
  double pj = 1;
};
[[nodiscard]] EnergyUnit energy_unit(double largest_pj);

}  // namespace attnscope
