// What the figures of the table of heads have in common: settings, and the table of each group of
// subjects.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figure/recipe.h"
#include "analysis/figure/settings.h"
#include "analysis/figure/subject_groups.h"
#include "analysis/heads/head_table.h"

namespace attnscope {

/// measures, sink, mass, threshold, inputs, of, centred and added: what ranks are of.
[[nodiscard]] std::vector<ParameterDescription> head_settings();

/// (layer, head) → the measure's mean over the group's inputs; without those nobody knows it of.
using HeadValues = std::map<std::pair<std::int64_t, std::int64_t>, double>;

/// The tables of all groups of subjects.
struct HeadFigureData {
  std::vector<SubjectGroup> groups;
  std::vector<std::vector<HeadTable>> tables;  ///< of each group, of each of its subjects
  /// Those that the setting asks for and some head has.
  std::vector<const HeadMeasure*> measures;
  std::vector<std::string> unknown;  ///< titles of those asked for that no head has
  std::string distance_unit;
  bool identity_removed = false;
  HeadOptions options;

  [[nodiscard]] HeadValues values(std::size_t group, const HeadMeasure& measure) const;
  /// What was computed, formula by formula, and of whom.
  [[nodiscard]] std::string caption(const FigureRequest& request) const;
};

/// Throws Error(usage): options out of range, no measure that any head has, subjects whose
/// distances have different units.
[[nodiscard]] HeadFigureData head_figure_data(const FigureRequest& request,
                                              const Progress& progress);

/// Of the values in layers and heads; 0 where there are none.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> extents_of(const HeadFigureData& data);

}  // namespace attnscope
