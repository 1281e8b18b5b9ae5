// Analyses of traces in Python, each the table of the command of its name.
#include <algorithm>
#include <numeric>
#include <optional>
#include <pybind11/stl.h>
#include <utility>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/baselines/null_model.h"
#include "analysis/comparison/comparison.h"
#include "analysis/components/components.h"
#include "analysis/frequencies/frequencies.h"
#include "analysis/heads/head_table.h"
#include "analysis/intervention/target_name.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/matrix/stacked_matrices.h"
#include "analysis/relevance/relevance.h"
#include "analysis/rollout/rollout.h"
#include "analysis/spectrum/identity_effect.h"
#include "analysis/tables/reports.h"
#include "analysis/tables/shared_columns.h"
#include "analysis/tables/spectrum_report.h"
#include "analysis/weights/weight_analysis.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"
#include "python/chosen_heads.h"
#include "python/computing.h"
#include "python/report.h"
#include "python/trace.h"

namespace attnscope::python {

std::vector<IdentityView> views_named(const std::string& name) {
  if (name == "both") return {IdentityView::without, IdentityView::with};
  std::vector<std::string> names = names_of(identity_view_names);
  for (const EnumName<IdentityView>& known : identity_view_names) {
    if (known.name == name) return {known.value};
  }
  names.emplace_back("both");
  throw unknown_name("view of the identity mapping", name, name_list(names));
}

MatrixChoice matrix_named(const std::string& of, const std::string& added, bool centred) {
  const MatrixChoice analysed = {matrix_kind_named(of), centred,
                                 value_of(added_names, added, "addition of layers")};
  check_added(analysed);
  return analysed;
}

RankThreshold threshold_named(const NamedThreshold& named) {
  return {named.first, value_of(rank_share_names, named.second, "share of the threshold")};
}

namespace {

// --- spectrum ----------------------------------------------------------------------------------

struct SpectrumCall {
  SpectrumOptions options;
  MatrixChoice analysed;
  std::vector<IdentityView> views;
  std::vector<std::int64_t> heads = {};  ///< all if empty
  bool each_channel = false;             ///< true for a row for each channel of each map
  bool proposition = false, baselines = false;
  std::optional<double> at_entropy;
};

/// Throws Error(usage) for parts of a call that exclude one another.
void check_spectrum(const SpectrumCall& call) {
  const auto refuse = [&](const char* argument, const char* why) {
    throw Error(ErrorKind::usage, why).about(argument).found(in_words(call.analysed));
  };
  if (call.proposition && !call.analysed.is_plain_map()) {
    refuse("proposition", "the proposition only applies to unchanged maps");
  }
  if (call.each_channel && !call.analysed.is_plain_map()) {
    refuse("channel", "all channels can only be analysed for unchanged maps");
  }
  if (!call.heads.empty() && is_of_layer(call.analysed.of)) {
    refuse("heads", "the analysed matrix is defined per layer, not per head");
  }
  if (call.each_channel && (call.proposition || call.baselines || call.at_entropy)) {
    throw Error(ErrorKind::usage,
                "proposition, baselines and at_entropy need the maps of one channel, or their mean")
        .about("channel");
  }
  if (call.baselines) check_null_models(call.analysed);
  if (call.at_entropy) check_equal_entropy(*call.at_entropy, call.analysed);
}

/// Keeps the rows of the heads that the call chose.
void keep_chosen(const SpectrumCall& call, SpectrumReport& report) {
  keep_heads(report.maps.front(), call.heads, &MapSpectrum::head);
  if (!report.effects.empty()) {
    keep_heads(report.effects.front(), call.heads,
               [](const IdentityEffect& effect) { return effect.without.head; });
  }
  if (!report.baselines.empty()) {
    keep_heads(report.baselines.front(), call.heads,
               [](const MapBaselines& baselines) { return baselines.null.head; });
  }
  if (!report.entropy_ranks.empty()) {
    keep_heads(report.entropy_ranks.front(), call.heads, &EntropyRank::head);
  }
}

SpectrumReport spectrum_in_view(const Subject& subject, const SpectrumCall& call, IdentityView view,
                                const Progress& progress) {
  const Trace& trace = *subject.trace;
  SpectrumReport report;
  report.model = subject.label;
  add_run(report, trace);
  report.threshold = call.options.threshold;
  report.status = status_of(subject);
  report.analysed = call.analysed.seen(view);
  report.at_entropy = call.at_entropy;
  if (call.baselines) {
    report.baselines = {baselines_of(trace, report.analysed, call.options, progress.part(0.15, 1))};
  }
  if (call.at_entropy) {
    report.entropy_ranks = {ranks_at_entropy(trace, *call.at_entropy, report.analysed, call.options,
                                             progress.silent())};
  }
  if (!call.proposition) {
    const Progress own = call.baselines ? progress.silent() : progress;
    report.maps = {call.each_channel ? spectra_of_channels(subject, view, call.options, own)
                                     : spectra_of(subject, report.analysed, call.options, own)};
    if (call.each_channel && trace.map_channels > 1) {
      report.channels = "each of " + std::to_string(trace.map_channels) + " channels";
    }
    keep_chosen(call, report);
    return report;
  }
  report.maps.emplace_back();
  report.effects = {identity_effects(trace, call.options, progress)};
  for (const IdentityEffect& effect : report.effects.front()) {
    const bool with = has_identity(trace, effect.without.layer, view);
    report.maps.front().push_back(with ? effect.with : effect.without);
  }
  keep_chosen(call, report);
  return report;
}

SharedReport spectrum(const SharedSubject& subject, const SpectrumCall& call,
                      const py::object& show) {
  check_spectrum(call);
  using Reports = std::vector<SpectrumReport>;
  const auto kept = std::make_shared<const Kept<Reports>>(
      Kept<Reports>{{subject}, computed(show, [&](const Progress& progress) {
                      Reports reports;
                      const double share = 1.0 / static_cast<double>(call.views.size());
                      for (const IdentityView view : call.views) {
                        const double first = share * static_cast<double>(reports.size());
                        reports.push_back(spectrum_in_view(*subject, call, view,
                                                           progress.part(first, first + share)));
                      }
                      return reports;
                    })});
  const SpectrumReport& first = kept->results.front();
  SharedReport made = made_of(maps_report(kept->results), kept, heading_of(*subject));
  if (!first.analysed.is_plain_map())
    made->heading += "analysed: " + in_words(first.analysed) + "\n";
  made->heading += "equivalent rank: " + rank_in_words(first.threshold) + "\n";
  for (const SpectrumReport& report : kept->results) {
    const std::string view(name_of(identity_view_names, report.analysed.identity));
    made->parts[kept->results.size() == 1 ? "means" : "means " + view] =
        made_of(means_report(report, SpectrumMeans::both), kept);
  }
  if (call.proposition) {
    made->parts["proposition 1"] = made_of(proposition_report(first), kept);
  }
  return made;
}

/// One spectrum of each matrix for all runs together.
SharedReport stacked_spectrum(const std::vector<SharedSubject>& subjects, const SpectrumCall& call,
                              const py::object& show) {
  check_spectrum(call);
  if (subjects.empty()) throw Error(ErrorKind::usage, "no trace was given").about("x");
  using Reports = std::vector<SpectrumReport>;
  const auto kept = std::make_shared<const Kept<Reports>>(Kept<Reports>{
      subjects, computed(show, [&](const Progress& progress) {
        Reports reports;
        for (const IdentityView view : call.views) {
          SpectrumReport& report = reports.emplace_back();
          report.model = subjects.front()->label;
          report.threshold = call.options.threshold;
          report.status = status_of(*subjects.front());
          report.analysed = call.analysed.seen(view);
          report.stacked = true;
          StackedMatrices stacked(report.analysed);
          for (const SharedSubject& subject : subjects) {
            progress.step(
                static_cast<double>(report.inputs.size()) / static_cast<double>(subjects.size()),
                "rows of all inputs");
            add_run(report, *subject->trace);
            stacked.add(*subject, call.options.layers);
          }
          report.maps = {stacked.spectra(report.threshold)};
          keep_chosen(call, report);
        }
        return reports;
      })});
  const SpectrumReport& first = kept->results.front();
  return made_of(
      maps_report(kept->results), kept,
      first.model + ", " + inputs_in_words(first) + "\nanalysed: " + in_words(first.analysed) +
          ", rows of all inputs\nequivalent rank: " + rank_in_words(first.threshold) + "\n");
}

// --- heads -------------------------------------------------------------------------------------

struct HeadResults {
  HeadTable table;
  std::vector<EntropyRank> entropy_ranks;
};

SharedReport heads(const SharedSubject& subject, const HeadOptions& options,
                   const std::vector<std::int64_t>& chosen, std::optional<double> at_entropy,
                   const py::object& show) {
  if (at_entropy) check_equal_entropy(*at_entropy, options.analysed);
  const auto kept = std::make_shared<const Kept<HeadResults>>(Kept<HeadResults>{
      {subject}, computed(show, [&](const Progress& progress) {
        HeadResults results{head_table(*subject, options, progress), {}};
        keep_heads(results.table.rows, chosen, &HeadRow::head);
        if (at_entropy) {
          results.entropy_ranks = ranks_at_entropy(
              *subject->trace, *at_entropy, options.analysed.seen(IdentityView::without),
              {.threshold = options.threshold, .layers = options.layers}, progress.silent());
          keep_heads(results.entropy_ranks, chosen, &EntropyRank::head);
        }
        return results;
      })});
  SharedReport made = made_of(head_report(*subject->trace, kept->results.table, at_entropy,
                                          at_entropy ? &kept->results.entropy_ranks : nullptr),
                              kept, heading_of(*subject));
  made->notes = report_legend(made->table) + head_signs_in_words(options);
  return made;
}

// --- frequencies -------------------------------------------------------------------------------

/// Rows of one run, or means over several.
SharedReport frequencies(const std::vector<SharedSubject>& subjects, const std::string& of,
                         const std::string& profile, const std::string& identity,
                         const std::vector<std::int64_t>& layers,
                         const std::vector<std::int64_t>& heads, const py::object& show) {
  const FrequencyRequest request{
      value_of(frequency_analysis_names, of, "analysis by frequency"),
      value_of(frequency_profile_names, profile, "profile over frequencies"),
      value_of(identity_view_names, identity, "view of the identity mapping"), layers, heads};
  check_frequencies(request, "");
  if (subjects.empty()) throw Error(ErrorKind::usage, "no trace was given").about("x");
  const auto kept = std::make_shared<const Kept<FrequencyRows>>(Kept<FrequencyRows>{
      subjects, computed(show, [&](const Progress& progress) {
        MeanFrequencyRows mean;
        double done = 0;
        for (const SharedSubject& subject : subjects) {
          const double next = done + 1 / static_cast<double>(subjects.size());
          mean.add(frequency_rows(*subject, request, progress.part(done, std::min(next, 1.0))));
          done = next;
        }
        return mean.rows();
      })});
  const PythonTrace& first = *subjects.front();
  const std::string over =
      subjects.size() > 1 ? "; means over " + std::to_string(subjects.size()) + " inputs" : "";
  SharedReport made = made_of(frequencies_report(*first.trace, kept->results, request), kept,
                              heading_of(first) + frequencies_in_words(request) + over + "\n");
  made->notes = report_legend(made->table);
  return made;
}

// --- compare -----------------------------------------------------------------------------------

SharedReport compare(const SharedSubject& reference, const SharedSubject& other,
                     const ComparisonOptions& options, const py::object& show) {
  check_comparison(options);
  const auto kept = std::make_shared<const Kept<DataSetComparison>>(Kept<DataSetComparison>{
      {reference, other}, computed(show, [&](const Progress& progress) {
        DataSetComparison result;
        result.items = 1;
        result.mean = compare_subjects(*reference, *other, options, {}, progress);
        return result;
      })});
  const SubjectComparison& found = kept->results.mean;
  SharedReport made = made_of(compared_maps_report(kept->results, false), kept);
  made->heading = other->label + " compared with " + reference->label + ", " +
                  alignment_in_words(options) + "\n" + std::to_string(found.maps_compared) +
                  " of " + std::to_string(found.maps.size()) + " maps compared cell by cell\n";
  if (!found.summary.empty()) made->heading += found.summary + "\n";
  for (const ComparisonQuantityEntry& entry : comparison_quantities()) {
    made->notes += std::string(entry.title) + ": " + std::string(entry.explanation) + "\n";
  }
  return made;
}

// --- components, relevance, weights ------------------------------------------------------------

struct ComponentResults {
  MatrixChoice analysed;
  std::vector<MapComponents> maps;
};

SharedReport components(const SharedSubject& subject, const MatrixChoice& analysed,
                        const std::vector<IdentityView>& views,
                        const std::vector<std::int64_t>& layers,
                        const std::vector<std::int64_t>& heads, std::int64_t count,
                        const py::object& show) {
  for (const IdentityView view : views) check_view(analysed.seen(view));
  std::vector<MapIndex> places = places_of(*subject->trace, analysed, layers);
  std::erase_if(places, [&heads](const MapIndex& place) {
    return !heads.empty() && std::ranges::count(heads, place.head) == 0;
  });
  if (places.empty()) throw Error(ErrorKind::usage, "no layer has this head").about("heads");
  const auto kept = std::make_shared<const Kept<ComponentResults>>(Kept<ComponentResults>{
      {subject}, computed(show, [&](const Progress& progress) {
        ComponentResults results{analysed, {}};
        for (const IdentityView view : views) {
          for (const MapIndex& place : places) {
            const auto done = static_cast<double>(results.maps.size());
            progress.step(done / static_cast<double>(views.size() * places.size()), "components");
            results.maps.push_back(map_components(*subject, place, analysed.seen(view), count));
          }
        }
        return results;
      })});
  return made_of(components_report(*subject->trace, kept->results.analysed, kept->results.maps),
                 kept, heading_of(*subject));
}

SharedReport relevance(const SharedSubject& subject, const std::string& target, std::int64_t place,
                       const py::object& show) {
  const std::int64_t index = target.empty() ? -1 : target_named(*subject->trace, target, "target");
  const auto kept = std::make_shared<const Kept<TokenRelevance>>(
      Kept<TokenRelevance>{{subject}, computed(show, [&](const Progress& progress) {
                             return token_relevance(*subject, {index}, place, progress).front();
                           })});
  const TokenRelevance& found = kept->results;
  std::vector<std::size_t> tokens(found.tokens.size());
  std::iota(tokens.begin(), tokens.end(), std::size_t{0});
  return made_of(relevant_tokens_report(*subject->trace, found, std::move(tokens)), kept,
                 heading_of(*subject) + "relevance to logit " + std::to_string(found.target) +
                     (found.label.empty() ? "" : " (" + found.label + ")") + "\n");
}

struct WeightResults {
  std::shared_ptr<const Model> minus;
  WeightRequest request;
  WeightRows rows;
};

SharedReport weights(const PythonModel& model, const std::string& of,
                     const std::optional<PythonModel>& minus, const NamedThreshold& named,
                     const py::object& show) {
  const auto kept = std::make_shared<WeightResults>();
  if (minus) kept->minus = minus->model;
  kept->request = {.of = value_of(weight_analysis_names, of, "analysis of weights"),
                   .threshold = threshold_named(named),
                   .minus = kept->minus.get()};
  kept->rows = computed(show, [&](const Progress& progress) {
    return weight_rows(*model.model, kept->request, progress);
  });
  Report table = weights_report(kept->rows, kept->request);
  std::string legend = report_legend(table);
  return made_of(std::move(table), kept,
                 weights_in_words(model.model->name(), model.model->spec(), kept->request,
                                  minus ? minus->model->name() : std::string()),
                 std::move(legend));
}

}  // namespace

void bind_analyses(py::module_& module) {
  using Layers = std::vector<std::int64_t>;
  module.def("spectrum",
             [](const SharedSubject& subject, const std::string& identity,
                const NamedThreshold& threshold, const std::string& of, const std::string& added,
                bool centred, const Layers& layers, const Layers& chosen, bool each_channel,
                const std::string& method, std::int64_t dense_limit, bool proposition,
                bool baselines, std::optional<double> at_entropy, const py::object& show) {
               // Tables show values, not only shares: each must be accurate.
               const SpectrumOptions options{.threshold = threshold_named(threshold),
                                             .accuracy = SpectrumAccuracy::every_value,
                                             .layers = layers,
                                             .method = spectrum_method(method),
                                             .dense_limit = dense_limit};
               return spectrum(subject,
                               {options, matrix_named(of, added, centred), views_named(identity),
                                chosen, each_channel, proposition, baselines, at_entropy},
                               show);
             });
  module.def("stacked_spectrum",
             [](const std::vector<SharedSubject>& subjects, const std::string& identity,
                const NamedThreshold& threshold, const std::string& of, const std::string& added,
                bool centred, const Layers& layers, const Layers& chosen, const py::object& show) {
               return stacked_spectrum(subjects,
                                       {{.threshold = threshold_named(threshold), .layers = layers},
                                        matrix_named(of, added, centred),
                                        views_named(identity),
                                        chosen,
                                        false,
                                        false,
                                        false,
                                        std::nullopt},
                                       show);
             });
  module.def("frequencies", &frequencies);
  module.def("heads", [](const SharedSubject& subject, const NamedThreshold& threshold, double sink,
                         double mass, const Layers& layers, const Layers& chosen, bool baselines,
                         const std::string& of, const std::string& added, bool centred,
                         std::optional<double> at_entropy, const py::object& show) {
    return heads(subject,
                 {threshold_named(threshold), sink, mass, layers, baselines,
                  matrix_named(of, added, centred)},
                 chosen, at_entropy, show);
  });
  module.def(
      "compare",
      [](const SharedSubject& reference, const SharedSubject& other, const std::string& align,
         bool match_heads, const NamedThreshold& threshold, bool baselines,
         std::optional<double> at_entropy, const std::string& identity, const std::string& of,
         const std::string& added, bool centred, const Layers& of_heads, const py::object& show) {
        constexpr EnumName<LayerAlignment> alignments[] = {{LayerAlignment::by_index, "index"},
                                                           {LayerAlignment::by_depth, "depth"}};
        const IdentityView view =
            value_of(identity_view_names, identity, "view of the identity mapping");
        return compare(reference, other,
                       {value_of(alignments, align, "alignment of layers"), match_heads,
                        threshold_named(threshold), baselines, at_entropy,
                        matrix_named(of, added, centred).seen(view), of_heads},
                       show);
      });
  module.def("components",
             [](const SharedSubject& subject, const std::string& identity, const std::string& of,
                const std::string& added, bool centred, const Layers& layers, const Layers& heads,
                std::int64_t count, const py::object& show) {
               return components(subject, matrix_named(of, added, centred), views_named(identity),
                                 layers, heads, count, show);
             });
  module.def("relevance", &relevance);
  module.def("weights", &weights);
  module.def("rollout", [](const SharedSubject& subject, std::int64_t layers,
                           const std::string& fusion, const py::object& show) {
    const RolloutOptions options{
        layers, value_of(rollout_fusion_names, fusion, "fusion of the maps of a layer's heads")};
    return array_of(computed(show, [&](const Progress& progress) {
      return attention_rollout(*subject->trace, options, progress);
    }));
  });
}

}  // namespace attnscope::python
