// Settings shared by several figures, and typed access to a figure's settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/spectrum/rank.h"
#include "core/parameters/typed_values.h"

namespace attnscope {

/// Reads the complete settings of a request, which must outlive it.
class Settings : public TypedValues {
 public:
  explicit Settings(const FigureRequest& request)
      : TypedValues(request.settings), values_(request.settings) {}

  /// Like TypedValues::indices; "all" means every index below `count`.
  [[nodiscard]] std::vector<std::int64_t> indices(std::string_view name, std::int64_t count) const;
  /// A setting as an index; empty if its value is a word. Throws Error(usage) naming the setting if
  /// the index is not below `count`.
  [[nodiscard]] std::optional<std::int64_t> index(std::string_view name, std::int64_t count) const;
  /// The setting's value as on the command line: "0,2-3".
  [[nodiscard]] std::string written(std::string_view name) const;

 private:
  const ParameterValues& values_;
};

inline constexpr EnumName<LegendPosition> legend_names[] = {{LegendPosition::below, "below"},
                                                            {LegendPosition::top_left, "inside"},
                                                            {LegendPosition::none, "none"}};

/// A setting of indices such as "layers": "all", or indices.
[[nodiscard]] ParameterDescription indices_setting(std::string name, std::string what);
/// Setting "identity": view of the maps as they are, without I, with I, or both without and with I.
[[nodiscard]] ParameterDescription identity_setting(std::string_view otherwise);
/// Setting "identity" for figures that show a single view.
[[nodiscard]] ParameterDescription single_identity_setting();
/// Settings "threshold" and "share" of the equivalent rank.
[[nodiscard]] ParameterDescription threshold_setting();
[[nodiscard]] ParameterDescription share_setting();
[[nodiscard]] RankThreshold threshold_of(const Settings& settings);
/// Setting "method": computation of singular values.
[[nodiscard]] ParameterDescription spectrum_method_setting();
/// Setting "inputs": the mean over the inputs or each input.
[[nodiscard]] ParameterDescription inputs_setting();
/// Setting "legend": below, none, and inside if allowed.
[[nodiscard]] ParameterDescription legend_setting(bool may_be_inside = false);

/// The views selected by identity_setting or single_identity_setting: one, or without and with.
[[nodiscard]] std::vector<IdentityView> identity_views(const Settings& settings);

/// Position of the legend; `inside` is the corner for a legend within the axes.
[[nodiscard]] LegendPosition legend_of(const Settings& settings,
                                       LegendPosition inside = LegendPosition::top_left);

/// True if the inputs of one model are averaged.
[[nodiscard]] bool averages_inputs(const Settings& settings);

/// The layers of a setting of indices, in the figure's numbering: "all", "1,3-4".
[[nodiscard]] std::string layers_written(const FigureRequest& request, std::string_view setting);

/// Name of a layer in the figure's numbering: "layer 4" for layer 3 from 1; for an encoder–decoder
/// "cross 2". The first subject with that layer decides.
[[nodiscard]] std::string layer_name(const FigureRequest& request, std::int64_t layer);

/// First, middle and last of `count`, without duplicates.
[[nodiscard]] std::vector<std::int64_t> first_middle_last(std::int64_t count);

/// The least number of layers, heads and tokens of all subjects.
struct SharedExtents {
  std::int64_t layers = 0, heads = 0, tokens = 0;
};
[[nodiscard]] SharedExtents shared_extents(const FigureRequest& request);

}  // namespace attnscope
