#include <string>

#include "analysis/tables/reports.h"
#include "analysis/tables/shared_columns.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

const char* along_in_words(RotaryPair::Along along) {
  return along == RotaryPair::Along::rows      ? "rows"
         : along == RotaryPair::Along::columns ? "columns"
                                               : "tokens";
}

/// One row per pair of a head.
ReportValue pairs_of(const RotaryUse& head) {
  const auto at = [&head](std::size_t row) -> const RotaryPair& { return head.pairs[row]; };
  return table_cell(
      {{{.name = "pair", .value = [](std::size_t row) { return static_cast<std::int64_t>(row); }},
        {.name = "first_channel", .value = [at](std::size_t row) { return at(row).first; }},
        {.name = "second_channel", .value = [at](std::size_t row) { return at(row).second; }},
        {.name = "along",
         .value = [at](std::size_t row) { return std::string(along_in_words(at(row).along)); }},
        {.name = "wavelength", .value = [at](std::size_t row) { return at(row).wavelength; }},
        {.name = "use", .value = [&head](std::size_t row) { return head.use[row]; }}},
       head.pairs.size()});
}

Report rotary_report(const Trace& trace, const std::vector<RotaryUse>& heads) {
  using Head = RotaryUse;
  const bool on_grid =
      !heads.empty() && heads.front().pairs.front().along != RotaryPair::Along::tokens;
  return report_on(
      heads,
      {layer_column<Head>(layers_in_words(trace), &Head::layer),
       {{.name = "head", .title = "head", .width = 6}, &Head::head},
       {{.name = "strongest_wavelength",
         .title = "wavelength of\nthe strongest",
         .unit = on_grid ? "patches" : "tokens",
         .formula = "2π over the angle per token of the pair with the greatest use",
         .width = 15,
         .decimals = 1},
        [](const Head& head) { return head.pairs[head.strongest].wavelength; }},
       {{.name = "strongest_use",
         .title = "its use",
         .formula = "mean over i of ‖q_c‖ · mean over j of ‖k_c‖, c the pair of channels",
         .width = 10},
        [](const Head& head) { return head.use[head.strongest]; }},
       {{.name = "slow_share",
         .title = "in slow\npairs",
         .formula = "share of the sum of uses in pairs that do not turn once within the input",
         .width = 10,
         .decimals = 1,
         .per_cent = true},
        &Head::slow_share},
       {{.name = "pairs"}, pairs_of}});
}

/// One row per frequency; with `delta`, the difference from the value at 0.
ReportValue points_of(const FrequencyCurve& curve, const char* value, bool delta) {
  Report points{
      {{.name = "frequency", .value = [&curve](std::size_t row) { return curve.frequency[row]; }},
       {.name = "cells", .value = [&curve](std::size_t row) { return curve.cells[row]; }},
       {.name = value, .value = [&curve](std::size_t row) { return curve.value[row]; }}},
      curve.value.size()};
  if (delta) {
    points.columns.push_back({.name = "delta", .value = [&curve](std::size_t row) {
                                return curve.value[row] - curve.value.front();
                              }});
  }
  return table_cell(std::move(points));
}

Report responses_report(const Trace& trace, const std::vector<FrequencyCurve>& layers) {
  using Curve = FrequencyCurve;
  return report_on(layers,
                   {layer_column<Curve>(layers_in_words(trace), &Curve::layer),
                    {{.name = "response_at_zero",
                      .title = "at 0",
                      .formula = "‖(F A)_0‖, F the unitary Fourier transform over the grid",
                      .width = 9,
                      .decimals = 4},
                     [](const Curve& curve) { return curve.value.front(); }},
                    {{.name = "high_response",
                      .title = "high",
                      .formula = "mean of ‖(F A)_k‖ over the frequencies from π/2 per patch on",
                      .width = 9,
                      .decimals = 4},
                     high_frequency_mean},
                    {{.name = "points"},
                     [](const Curve& curve) { return points_of(curve, "response", false); }}});
}

Report amplitudes_report(const Trace& trace, const std::vector<FrequencyCurve>& depths) {
  using Curve = FrequencyCurve;
  const std::vector<std::string> names = layers_in_words(trace);
  return report_on(
      depths,
      {{{.name = "layer", .title = "after layer", .width = 11},
        [](const Curve& curve) { return if_any(curve.layer); },
        [names](const Curve& curve) {
          return curve.layer < 0 ? "in" : names[static_cast<std::size_t>(curve.layer)];
        }},
       {{.name = "amplitude_at_zero",
         .title = "at 0",
         .formula = "mean over channels of ln|(F x)_0|, F the Fourier transform over the grid",
         .width = 9,
         .decimals = 3},
        [](const Curve& curve) { return curve.value.front(); }},
       {{.name = "high_delta",
         .title = "Δ high",
         .formula = "the same over the frequencies from π/2 per patch on, minus that at 0",
         .width = 9,
         .decimals = 3},
        [](const Curve& curve) { return high_frequency_mean(curve) - curve.value.front(); }},
       {{.name = "points"},
        [](const Curve& curve) { return points_of(curve, "log_amplitude", true); }}});
}

}  // namespace

Report frequencies_report(const Trace& trace, const FrequencyRows& rows,
                          const FrequencyRequest& request) {
  if (const auto* const heads = std::get_if<std::vector<RotaryUse>>(&rows)) {
    return rotary_report(trace, *heads);
  }
  const auto& curves = std::get<std::vector<FrequencyCurve>>(rows);
  return request.of == FrequencyAnalysis::amplitude ? amplitudes_report(trace, curves)
                                                    : responses_report(trace, curves);
}

std::string frequencies_in_words(const FrequencyRequest& request) {
  if (request.of == FrequencyAnalysis::rotary_use) {
    return "use of the frequencies of rotary positions by each head";
  }
  const std::string profile = request.profile == FrequencyProfile::radius
                                  ? "by radius of the frequency over the grid of patches"
                                  : "by frequency along the diagonal of the grid of patches";
  if (request.of == FrequencyAnalysis::amplitude) return "log-amplitude of the tokens, " + profile;
  const std::string view = request.identity == IdentityView::with      ? " + I"
                           : request.identity == IdentityView::without ? " without I"
                                                                       : "";
  return "filter response of the maps" + view + ", mean over heads, " + profile;
}

}  // namespace attnscope
