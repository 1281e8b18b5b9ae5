#include "app/panels/panels.h"

#include "app/panels/ablation/ablation_panel.h"
#include "app/panels/all_maps/all_maps_panel.h"
#include "app/panels/analyses/analyses_panel.h"
#include "app/panels/answer/answer_panel.h"
#include "app/panels/comparison/comparison_panel.h"
#include "app/panels/components/components_panel.h"
#include "app/panels/energy/energy_panel.h"
#include "app/panels/groups/groups_panel.h"
#include "app/panels/inputs/inputs_panel.h"
#include "app/panels/lessons/lessons_panel.h"
#include "app/panels/mechanism/mechanism_panel.h"
#include "app/panels/models/models_panel.h"
#include "app/panels/patching/patching_panel.h"
#include "app/panels/playground/playground_panel.h"
#include "app/panels/row/row_panel.h"
#include "app/panels/spectrum/spectrum_panel.h"
#include "app/panels/steps/steps_panel.h"
#include "app/panels/sweep/sweep_panel.h"
#include "app/panels/training/training_panel.h"
#include "app/panels/truncation/truncation_panel.h"
#include "app/panels/what_if/what_if_panel.h"
#include "app/session/sample_data.h"

namespace attnscope {

namespace {

template <class Panel>
DockPanel* of_session(const PanelContext& context) {
  return new Panel(context.session);
}

template <class Panel>
DockPanel* of_spectra(const PanelContext& context) {
  return new Panel(context.session, context.spectra);
}

template <class Panel>
DockPanel* of_comparisons(const PanelContext& context) {
  return new Panel(context.session, context.comparisons);
}

template <class Panel>
DockPanel* of_atlases(const PanelContext& context) {
  return new Panel(context.session, context.atlases);
}

DockPanel* spectrum_of_atlases(const PanelContext& context) {
  return new SpectrumPanel(context.session, context.spectra, context.atlases);
}

DockPanel* with_recent_files(const PanelContext& context) {
  return new ModelsPanel(context.session, context.recent_files);
}

DockPanel* with_samples(const PanelContext& context) {
  return new InputsPanel(context.session, sample_inputs());
}

constexpr PanelPage kModelPages[] = {{"structure", QT_TR_NOOP("Structure"), true}};
constexpr PanelPage kRowPages[] = {{"query", QT_TR_NOOP("Query on the input")},
                                   {"profile", QT_TR_NOOP("Profile of the map")},
                                   {"cosine", QT_TR_NOOP("Likeness to a token")},
                                   {"colours", QT_TR_NOOP("Components as colours")}};
constexpr PanelPage kViewsOfMaps[] = {{"ranks", QT_TR_NOOP("Ranks")},
                                      {"heads", QT_TR_NOOP("Measures of heads")},
                                      {"depth", QT_TR_NOOP("Rank over depth")}};

constexpr PanelPage kMechanismPages[] = {
    {"position-bias", QT_TR_NOOP("Position biases")},
    {"key-maps", QT_TR_NOOP("Keys as pictures")},
    {"token-importance", QT_TR_NOOP("Importance of tokens")},
    // Codes can be learned for the attention of any model.
    {"hash-codes", QT_TR_NOOP("Hash codes"), true, MechanismPanel::has_codes}};

constexpr PanelPage kAnalysesPages[] = {{"random-networks", QT_TR_NOOP("Random networks"), true}};

constexpr PanelPage kTrainingPages[] = {{"over-training", QT_TR_NOOP("Checkpoints"), true}};

}  // namespace

std::span<const PanelEntry> panels() {
  using enum PanelPlace;
  using enum PanelGroup;
  // The order of menus; at each place the first is in front.
  static const PanelEntry list[] = {
      {.name = "models",
       .group = model,
       .place = models,
       .make = with_recent_files,
       .title = ModelsPanel::kTitle,
       .pages = kModelPages},
      {.name = "inputs",
       .group = model,
       .place = inputs,
       .make = with_samples,
       .title = InputsPanel::kTitle},
      {.name = "answer",
       .group = model,
       .place = answer,
       .make = of_session<AnswerPanel>,
       .title = AnswerPanel::kTitle,
       .presented = true},
      {.name = "row",
       .group = this_map,
       .place = map,
       .make = of_atlases<RowPanel>,
       .title = RowPanel::kTitle,
       .pages = kRowPages},
      {.name = "components",
       .group = this_map,
       .place = map,
       .make = of_session<ComponentsPanel>,
       .title = ComponentsPanel::kTitle},
      {.name = "steps",
       .group = this_map,
       .place = beside,
       .make = of_session<StepsPanel>,
       .title = StepsPanel::kTitle},
      {.name = "all-maps",
       .group = all_maps,
       .place = numbers,
       .make = of_spectra<AllMapsPanel>,
       .title = AllMapsPanel::kTitle,
       .pages = kViewsOfMaps},
      {.name = "spectrum",
       .group = all_maps,
       .place = spectrum,
       .make = spectrum_of_atlases,
       .title = SpectrumPanel::kTitle,
       .presented = true},
      {.name = "mechanism",
       .group = mechanism,
       .place = map,
       .make = of_session<MechanismPanel>,
       .title = MechanismPanel::kTitle,
       .pages = kMechanismPages,
       .has_content = MechanismPanel::has_content},
      {.name = "what-if",
       .group = experiments,
       .place = map,
       .make = of_spectra<WhatIfPanel>,
       .title = WhatIfPanel::kTitle},
      {.name = "analyses",
       .group = experiments,
       .place = beside,
       .make = of_session<AnalysesPanel>,
       .title = AnalysesPanel::kTitle,
       .pages = kAnalysesPages},
      {.name = "groups",
       .group = experiments,
       .place = beside,
       .make = of_session<GroupsPanel>,
       .title = GroupsPanel::kTitle},
      {.name = "truncation",
       .group = experiments,
       .place = beside,
       .make = of_session<TruncationPanel>,
       .title = TruncationPanel::kTitle},
      {.name = "ablation",
       .group = experiments,
       .place = beside,
       .make = of_session<AblationPanel>,
       .title = AblationPanel::kTitle},
      {.name = "patching",
       .group = experiments,
       .place = beside,
       .make = of_session<PatchingPanel>,
       .title = PatchingPanel::kTitle},
      {.name = "comparison",
       .group = experiments,
       .place = numbers,
       .make = of_comparisons<ComparisonPanel>,
       .title = ComparisonPanel::kTitle,
       .has_content = ComparisonPanel::has_content},
      {.name = "sweep",
       .group = experiments,
       .place = beside,
       .make = of_session<SweepPanel>,
       .title = SweepPanel::kTitle},
      {.name = "training",
       .group = experiments,
       .place = beside,
       .make = of_session<TrainingPanel>,
       .title = TrainingPanel::kTitle,
       .pages = kTrainingPages,
       .key = "F3"},
      {.name = "energy",
       .group = experiments,
       .place = beside,
       .make = of_session<EnergyPanel>,
       .title = EnergyPanel::kTitle},
      {.name = "lessons",
       .group = learn,
       .place = beside,
       .make = of_spectra<LessonsPanel>,
       .title = LessonsPanel::kTitle,
       .presented = true,
       .key = "F2"},
      {.name = "playground",
       .group = learn,
       .place = beside,
       .make = of_session<PlaygroundPanel>,
       .title = PlaygroundPanel::kTitle},
  };
  return list;
}

std::vector<std::string> panel_names() {
  std::vector<std::string> names;
  for (const PanelEntry& entry : panels()) {
    names.emplace_back(entry.name);
    for (const PanelPage& page : entry.pages) names.emplace_back(page.name);
  }
  return names;
}

}  // namespace attnscope
