#include "analysis/figure/fit.h"

#include <algorithm>
#include <array>
#include <functional>

namespace attnscope {

namespace {

/// What one subject must have for a figure, and what to say if none has it.
struct FigureNeeds {
  std::string_view figure;
  bool (*shows)(const Subject&);
  std::string_view missing;
  std::size_t least = 1;  ///< how many subjects
  std::size_t most = 0;   ///< any number if 0
};

bool has_maps(const Subject& subject) {
  return subject.trace != nullptr && subject.trace->tokens() > 0 && subject.trace->heads() > 0;
}

bool has_grid(const Subject& subject) {
  return has_maps(subject) && subject.trace->layout.has_grid() && subject.trace->image.has_value();
}

bool reads_out(const Subject& subject) {
  return subject.model != nullptr && subject.model->spec().readout != Readout::none;
}

bool ran(const Subject& subject) { return subject.trace != nullptr; }

bool is_daft(const Subject& subject) { return ran(subject) && attends_by(subject, "daft"); }
bool is_text(const Subject& subject) {
  return ran(subject) && !subject.trace->layout.texts.empty();
}

// Figures that ask for more than attention maps.
constexpr std::array<FigureNeeds, 9> known_needs = {{
    {"attention-overlay", has_grid, "needs a model of images, run on one"},
    {"feature-scatter", reads_out, "needs a model with a head that reads features"},
    {"position-bias", is_daft, "needs a model with DAFT attention"},
    {"key-maps", is_daft, "needs a model with DAFT attention"},
    {"token-importance", is_text, "needs a language model, run on a text"},
    {"hash-codes", ran, "needs a model that has run on an input", 1, 1},
    {"comparison", has_maps, "needs two models that have run on an input", 2},
    {"spectrum-comparison", has_maps, "needs two models that have run on an input", 2},
    {"rank-comparison", has_maps, "needs two models that have run on an input", 2},
}};
constexpr FigureNeeds maps_needed = {"", has_maps, "needs a model that has run on an input"};

}  // namespace

bool attends_by(const Subject& subject, std::string_view family) {
  if (subject.mechanism.name.starts_with(family)) return true;
  if (subject.trace == nullptr) return false;
  const auto& layers = subject.trace->layers;
  return std::any_of(layers.begin(), layers.end(), [&](const LayerTrace& layer) {
    return layer.mechanism && layer.mechanism->name.starts_with(family);
  });
}

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
                 const std::map<std::string, std::string>& settings) {
  const auto recipes = figure_recipes();
  const auto recipe = std::find_if(recipes.begin(), recipes.end(),
                                   [&](const FigureRecipe& r) { return r.name == figure; });
  if (recipe == recipes.end()) return {{}, 0, std::string(not_in_this_version)};
  FigureFit fit;
  if (recipe->counts_only) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (subjects[i].model != nullptr) fit.subjects.push_back(i);
    }
    return fit;
  }
  const auto found = std::find_if(known_needs.begin(), known_needs.end(),
                                  [&](const FigureNeeds& n) { return n.figure == figure; });
  const FigureNeeds& needs = found == known_needs.end() ? maps_needed : *found;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (needs.shows(subjects[i])) fit.subjects.push_back(i);
  }
  if (fit.subjects.size() < needs.least) fit.missing = needs.missing;
  fit.most = needs.most;
  if (fit.missing.empty() && recipe->runs_models) {
    const auto data_set = settings.find("data-set");
    if (data_set == settings.end() || data_set->second.empty()) {
      fit.missing = "needs a labelled data set";
    }
  }
  return fit;
}

}  // namespace attnscope
