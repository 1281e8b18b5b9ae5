// Settings shared by the figures of head tables, and the tables of each group of subjects.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/caption.h"
#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/heads/head_table.h"

namespace attnscope {

/// Settings measures, sink, mass, threshold and inputs, and of, centred and added for the ranks.
[[nodiscard]] std::vector<ParameterDescription> head_settings();

/// (layer, head) → mean of the measure over the group's inputs; only heads with a known value.
using HeadValues = std::map<std::pair<std::int64_t, std::int64_t>, double>;

/// The tables of all groups of subjects.
struct HeadFigureData {
  std::vector<SubjectGroup> groups;
  std::vector<std::vector<HeadTable>> tables;  ///< [group][subject in the group]
  /// Measures that the setting selects and that some head has.
  std::vector<const HeadMeasure*> measures;
  std::vector<std::string> unknown;  ///< titles of selected measures that no head has
  std::string distance_unit;
  bool identity_removed = false;
  HeadOptions options;

  [[nodiscard]] HeadValues values(std::size_t group, const HeadMeasure& measure) const;
  /// Formulas of the measures, and the subjects.
  [[nodiscard]] std::string caption(const FigureRequest& request) const;
};

/// Computes the tables. Throws Error(usage): options out of range, no selected measure that any
/// head has, subjects whose distances have different units.
[[nodiscard]] HeadFigureData head_figure_data(const FigureRequest& request,
                                              const Progress& progress);

/// Numbers of layers and heads of the values; 0 if there are none.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> extents_of(const HeadFigureData& data);

}  // namespace attnscope
