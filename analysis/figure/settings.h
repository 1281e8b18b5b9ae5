// The settings that several figures have, and a figure's settings as its recipe reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"
#include "core/parameters/typed_values.h"

namespace attnscope {

/// Reads the complete settings of one request. Keeps a reference to them.
class Settings : public TypedValues {
 public:
  explicit Settings(const FigureRequest& request)
      : TypedValues(request.settings), values_(request.settings) {}

  /// As TypedValues::indices; every index below `count` where the setting says "all".
  [[nodiscard]] std::vector<std::int64_t> indices(std::string_view name, std::int64_t count) const;
  /// A whole number as an index; null where a word stands in its place. Throws Error(usage) naming
  /// the setting if it is not below `count`.
  [[nodiscard]] std::optional<std::int64_t> index(std::string_view name, std::int64_t count) const;
  /// As the command line says it: "0,2-3".
  [[nodiscard]] std::string written(std::string_view name) const;

 private:
  const ParameterValues& values_;
};

inline constexpr EnumName<LegendPosition> legend_names[] = {{LegendPosition::below, "below"},
                                                            {LegendPosition::top_left, "inside"},
                                                            {LegendPosition::none, "none"}};

/// "layers" or the like: "all", or indices.
[[nodiscard]] ParameterDescription indices_setting(std::string name, std::string what);
/// "identity": how maps are seen: as they are, without I, with I, or both ways beside each other.
[[nodiscard]] ParameterDescription identity_setting(std::string_view otherwise);
/// The same for figures that show one of them.
[[nodiscard]] ParameterDescription single_identity_setting();
/// "threshold": τ of the equivalent rank.
[[nodiscard]] ParameterDescription threshold_setting();
/// "method": how singular values are found.
[[nodiscard]] ParameterDescription spectrum_method_setting();
/// "inputs": mean or each.
[[nodiscard]] ParameterDescription inputs_setting();
/// "legend": below, none, and inside where there is room for it.
[[nodiscard]] ParameterDescription legend_setting(bool may_be_inside = false);

/// The views that identity_setting or single_identity_setting asks for: one, or without and with.
[[nodiscard]] std::vector<IdentityView> identity_views(const Settings& settings);

/// Where the legend stands; `inside` is the corner for one within the axes.
[[nodiscard]] LegendPosition legend_of(const Settings& settings,
                                       LegendPosition inside = LegendPosition::top_left);

/// Whether inputs of one model are averaged.
[[nodiscard]] bool averages_inputs(const Settings& settings);

/// The layers a setting of indices asks for as the figure numbers them: "all", "1,3-4".
[[nodiscard]] std::string layers_written(const FigureRequest& request, std::string_view setting);

/// "layer 4": layer 3 as the figure numbers it; of an encoder–decoder "cross 2", as the first
/// subject has it.
[[nodiscard]] std::string layer_name(const FigureRequest& request, std::int64_t layer);

/// First, middle and last of `count`, each once.
[[nodiscard]] std::vector<std::int64_t> first_middle_last(std::int64_t count);

/// The least layers, heads and tokens any subject has.
struct SharedExtents {
  std::int64_t layers = 0, heads = 0, tokens = 0;
};
[[nodiscard]] SharedExtents shared_extents(const FigureRequest& request);

}  // namespace attnscope
