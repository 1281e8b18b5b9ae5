// Analyses of a whole network in Python: how tokens and groups mix, what it would answer after each
// layer, and its operations and energy.
#include <cmath>
#include <numeric>
#include <optional>
#include <pybind11/stl.h>
#include <utility>

#include "analysis/intervention/target_name.h"
#include "analysis/tables/energy_report.h"
#include "analysis/tables/expert_report.h"
#include "analysis/tables/group_report.h"
#include "analysis/tables/reports.h"
#include "core/error.h"
#include "python/chosen_heads.h"
#include "python/computing.h"
#include "python/report.h"
#include "python/trace.h"

namespace attnscope::python {

namespace {

SharedReport mixing(const SharedSubject& subject, const MixingRequest& request,
                    const py::object& show) {
  using Matrices = std::vector<MixedMatrix>;
  const auto kept = std::make_shared<const Kept<Matrices>>(
      Kept<Matrices>{{subject}, computed(show, [&](const Progress& progress) {
                       return mixed_matrices(*subject, request, {}, progress);
                     })});
  return made_of(mixing_report(*subject->trace, kept->results), kept,
                 heading_of(*subject) + request.by + (request.rollout ? ", rollout" : "") + "\n");
}

SharedReport groups(const SharedSubject& subject, const GroupOptions& options,
                    const std::string& from, const std::vector<std::int64_t>& heads,
                    const py::object& show) {
  const auto kept = std::make_shared<const Kept<GroupedMaps>>(
      Kept<GroupedMaps>{{subject}, computed(show, [&](const Progress& progress) {
                          return grouped_maps(*subject->trace, options, progress);
                        })});
  const GroupedMaps& found = kept->results;
  const std::optional<std::size_t> queries = group_named(found.groups, from);
  check_heads(heads, subject->trace->heads());
  SharedReport made = made_of(groups_report(found, queries), kept,
                              heading_of(*subject) + groups_in_words(found, options, queries));
  made->parts["heads"] =
      made_of(grouped_heads_report(*subject->trace, found, queries, heads), kept);
  return made;
}

SharedReport experts(const SharedSubject& subject, const std::vector<std::int64_t>& layers) {
  using Layers = std::vector<LayerExperts>;
  const auto kept = std::make_shared<const Kept<Layers>>(
      Kept<Layers>{{subject}, layer_experts(*subject->trace, layers)});
  SharedReport made = made_of(token_experts_report(*subject->trace, kept->results), kept,
                              heading_of(*subject) + experts_in_words(kept->results));
  const Report loads = expert_layers_report(*subject->trace, kept->results);
  made->parts["layers"] = made_of(loads, kept, "", report_legend(loads));
  return made;
}

SharedReport lens(const SharedSubject& subject, std::size_t top, const std::string& target,
                  std::optional<std::size_t> place, const py::object& show) {
  const std::int64_t followed =
      target.empty() ? -1 : target_named(*subject->trace, target, "target");
  const auto kept = std::make_shared<const Kept<LogitLens>>(
      Kept<LogitLens>{{subject}, computed(show, [&](const Progress& progress) {
                        return logit_lens(*subject, top, followed, progress);
                      })});
  const bool has_place = !place || *place < kept->results.cells.front().size();
  if (!has_place) {
    throw Error(ErrorKind::usage, "the trace has no such token position")
        .about("place")
        .expected("below " + std::to_string(kept->results.cells.front().size()))
        .found(std::to_string(*place));
  }
  return made_of(lens_report(kept->results, place), kept, heading_of(*subject));
}

/// The heads of an attribution, all if `asked` is empty.
std::vector<std::int64_t> attributed_heads(const LogitAttribution& found,
                                           std::vector<std::int64_t> asked) {
  const std::int64_t known = found.heads.cols();
  check_heads(asked, known);
  if (!asked.empty()) return asked;
  asked.resize(static_cast<std::size_t>(known));
  std::iota(asked.begin(), asked.end(), std::int64_t{0});
  return asked;
}

SharedReport lens_by_head(const SharedSubject& subject, const std::string& target,
                          std::int64_t place, const std::vector<std::int64_t>& heads,
                          const py::object& show) {
  const std::int64_t index = target.empty() ? -1 : target_named(*subject->trace, target, "target");
  const auto kept = std::make_shared<const Kept<LogitAttribution>>(Kept<LogitAttribution>{
      {subject},
      computed(show, [&](const Progress&) { return logit_attribution(*subject, index, place); })});
  const LogitAttribution& found = kept->results;
  const std::vector<std::int64_t> shown = attributed_heads(found, heads);
  SharedReport made = made_of(logit_parts_report(found, shown), kept,
                              heading_of(*subject) + attribution_in_words(found));
  made->parts["layers"] = made_of(logit_layers_report(found, shown), kept);
  return made;
}

/// The request of a model or, without one, of a network by its name.
EnergyRequest energy_request(const PythonModel* model, const std::string& network,
                             const std::string& mechanism, const std::string& convention,
                             const std::string& constants, std::int64_t tokens,
                             const Settings& settings) {
  EnergyRequest request;
  request.architecture = network;
  if (model) request = energy_request_of(*model->model);
  request.mechanism.name = mechanism;
  request.convention = find_convention(convention);
  request.constants = constants;
  request.tokens = tokens;
  for (const auto& [name, value] : settings) set(request, name, value);
  return request;
}

SharedReport energy(const EnergyRequest& request, bool by_layer) {
  const auto kept = std::make_shared<const NetworkReport>(network_report(request, by_layer));
  SharedReport made = made_of(components_energy_report(*kept, true), kept, network_in_words(*kept),
                              network_sums_in_words(*kept));
  made->parts["sums"] = made_of(energy_sums_report(*kept), kept);
  made->parts["parameters"] = made_of(parameter_counts_report(*kept), kept);
  return made;
}

SharedReport published_energy(const std::string& table) {
  std::vector<ReproducedFigure> figures = reproduce_table(table);
  const std::string heading =
      figures.front().published.paper + ", " + figures.front().published.table + "\n";
  return made_of(reproduced_report(std::move(figures)), nullptr, heading);
}

}  // namespace

void bind_networks(py::module_& module) {
  using Indices = std::vector<std::int64_t>;
  module.def("mixing", [](const SharedSubject& subject, const std::string& by, bool rollout,
                          const Indices& layers, const Indices& heads, const py::object& show) {
    return mixing(subject, {by, rollout, layers, heads}, show);
  });
  module.def("groups", [](const SharedSubject& subject, const std::string& named,
                          const std::string& from, const Indices& layers, const Indices& heads,
                          std::int64_t apart, std::int64_t receivers, const py::object& show) {
    return groups(subject, {named, layers, apart, receivers}, from, heads, show);
  });
  module.def("experts", &experts);
  module.def("lens", &lens);
  module.def("lens_by_head", &lens_by_head);
  module.def("energy", [](const PythonModel* model, const std::string& network,
                          const std::string& mechanism, const std::string& convention,
                          const std::string& constants, std::int64_t tokens, bool by_layer,
                          const Settings& settings) {
    return energy(
        energy_request(model, network, mechanism, convention, constants, tokens, settings),
        by_layer);
  });
  module.def("published_energy", &published_energy);
}

}  // namespace attnscope::python
