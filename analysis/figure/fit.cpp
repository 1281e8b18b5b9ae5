#include "analysis/figure/fit.h"

#include <algorithm>

namespace attnscope {

FigureRequest with_subjects(const FigureRequest& request, const std::vector<std::size_t>& indices) {
  FigureRequest chosen = request;
  chosen.subjects.clear();
  chosen.sources.clear();
  chosen.spectra.clear();
  for (const std::size_t index : indices) {
    chosen.subjects.push_back(request.subjects.at(index));
    if (index < request.sources.size()) chosen.sources.push_back(request.sources[index]);
    chosen.spectra.push_back(index < request.spectra.size() ? request.spectra[index] : nullptr);
  }
  return chosen;
}

FigureFit fit_of(std::string_view figure, const std::vector<Subject>& subjects,
                 const ParameterValues& settings) {
  const auto recipes = figure_recipes();
  const auto recipe = std::find_if(recipes.begin(), recipes.end(),
                                   [&](const FigureRecipe& r) { return r.name == figure; });
  if (recipe == recipes.end()) return {{}, 0, std::string(not_in_this_version), {}};
  const FigureNeeds needs = needs_of(*recipe, settings);
  FigureFit fit;
  fit.most = needs.most;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (can_show(needs, subjects[i])) fit.subjects.push_back(i);
  }
  if (fit.subjects.size() < needs.least) fit.missing = missing_in_words(needs);
  if (!needs.setting.empty()) {
    const auto given = settings.find(needs.setting);
    if (given == settings.end() || to_string(given->second).empty()) fit.unset = needs.unset;
  }
  return fit;
}

}  // namespace attnscope
