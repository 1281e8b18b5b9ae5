#include "app/panels/panels.h"

#include "app/panels/comparison/comparison_panel.h"
#include "app/panels/depth/depth_panel.h"
#include "app/panels/energy/energy_panel.h"
#include "app/panels/hash_codes/hash_codes_panel.h"
#include "app/panels/importance/importance_panel.h"
#include "app/panels/inputs/inputs_panel.h"
#include "app/panels/key_maps/key_maps_panel.h"
#include "app/panels/lessons/lessons_panel.h"
#include "app/panels/models/models_panel.h"
#include "app/panels/playground/playground_panel.h"
#include "app/panels/position_bias/position_bias_panel.h"
#include "app/panels/query/query_panel.h"
#include "app/panels/ranks/ranks_panel.h"
#include "app/panels/spectrum/spectrum_panel.h"
#include "app/panels/sweep/sweep_panel.h"
#include "app/session/sample_data.h"

namespace attnscope {

namespace {

template <class Panel>
DockPanel* of_session(Session& session, SpectrumStore&) {
  return new Panel(session);
}

template <class Panel>
DockPanel* of_spectra(Session& session, SpectrumStore& spectra) {
  return new Panel(session, spectra);
}

DockPanel* inputs(Session& session, SpectrumStore&) {
  return new InputsPanel(session, sample_inputs());
}

}  // namespace

std::span<const PanelEntry> panels() {
  // One line each.
  // clang-format off
  static const PanelEntry list[] = {
      {"models", PanelPlace::models, of_session<ModelsPanel>},
      {"inputs", PanelPlace::inputs, inputs},
      {"spectrum", PanelPlace::spectrum, of_spectra<SpectrumPanel>},
      {"depth", PanelPlace::spectrum, of_spectra<DepthPanel>},
      {"query", PanelPlace::map, of_session<QueryPanel>},
      {"hash-codes", PanelPlace::map, of_session<HashCodesPanel>},
      {"position-bias", PanelPlace::spectrum, of_session<PositionBiasPanel>},
      {"key-maps", PanelPlace::map, of_session<KeyMapsPanel>},
      {"token-importance", PanelPlace::map, of_session<ImportancePanel>},
      {"ranks", PanelPlace::numbers, of_spectra<RanksPanel>},
      {"comparison", PanelPlace::numbers, of_session<ComparisonPanel>},
      {"energy", PanelPlace::beside, of_session<EnergyPanel>, false},
      {"sweep", PanelPlace::beside, of_session<SweepPanel>, false},
      {"lessons", PanelPlace::beside, of_spectra<LessonsPanel>, false},
      {"playground", PanelPlace::beside, of_session<PlaygroundPanel>, false},
  };
  // clang-format on
  return list;
}

}  // namespace attnscope
