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

/// Settings every figure of counted networks has.
inline constexpr FigureSetting networks_setting = {
    "networks", "",
    "networks without weights, separated by semicolons: deit-small; deit-small mechanism=hash "
    "bits=8"};
inline constexpr FigureSetting mechanisms_setting = {
    "mechanisms", "own",
    "under which each network is counted, separated by semicolons: own; adder; hash bits=8"};
inline constexpr FigureSetting tokens_setting = {"tokens", "0", "N of every network; 0: its own"};
inline constexpr FigureSetting parameters_setting = {
    "parameters", "", "of every mechanism that has them, separated by spaces: bits=8 landmarks=64"};
inline constexpr FigureSetting constants_setting = {
    "constants", "fp32", "energy per operation: fp32, fp16, int32, int8 or a JSON file"};

/// The request's subjects, each with its model, then those of the setting "networks", separated by
/// semicolons; `otherwise` if there are none; each under every one of "mechanisms". All with the
/// settings "convention", "constants" and "tokens" unless they say their own, and with those of
/// "parameters" their mechanism has. Throws Error(usage) for what cannot be counted.
[[nodiscard]] std::vector<CountedNetwork> counted_networks(const FigureRequest& request,
                                                           const std::string& otherwise);

/// A mechanism written "hash bits=8", with those of `parameters` that it has and does not say
/// itself. Throws Error(usage) for an unknown name or a value out of range.
[[nodiscard]] MechanismChoice parse_mechanism(const std::string& text,
                                              const std::string& parameters = {});

/// The items between semicolons that are not blank.
[[nodiscard]] std::vector<std::string> listed_items(const std::string& text);

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
