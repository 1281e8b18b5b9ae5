#include <algorithm>

#include "app/panels/lessons/experiments/experiment.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

// One declaration per experiment; each is defined in its own file.
ExperimentEntry ranks_experiment();
ExperimentEntry variance_experiment();
ExperimentEntry identity_experiment();
ExperimentEntry playground_experiment();
ExperimentEntry importance_experiment();
ExperimentEntry hash_experiment();
ExperimentEntry cost_experiment();
ExperimentEntry matrix_experiment();
ExperimentEntry truncation_experiment();
ExperimentEntry null_models_experiment();
ExperimentEntry truncated_maps_experiment();
ExperimentEntry replaced_head_experiment();

std::span<const ExperimentEntry> experiments() {
  // One line per entry.
  static const ExperimentEntry list[] = {
      ranks_experiment(),       variance_experiment(),       identity_experiment(),
      playground_experiment(),  importance_experiment(),     hash_experiment(),
      cost_experiment(),        matrix_experiment(),         truncation_experiment(),
      null_models_experiment(), truncated_maps_experiment(), replaced_head_experiment(),
  };
  // clang-format on
  return list;
}

QWidget* make_experiment(const std::string& name, const ExperimentContext& context) {
  const auto entry = std::ranges::find(experiments(), name, &ExperimentEntry::name);
  if (entry == experiments().end()) {
    throw unknown_name("experiment", name, name_list(experiments(), &ExperimentEntry::name));
  }
  for (const auto& [key, value] : context.settings) {
    if (std::ranges::find(entry->settings, key) == entry->settings.end()) {
      throw unknown_name("setting of " + name, key, name_list(entry->settings));
    }
  }
  return entry->make(context);
}

}  // namespace attnscope
