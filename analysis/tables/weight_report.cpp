#include <nlohmann/json.hpp>
#include <string>

#include "analysis/tables/reports.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

Report weight_values_report(const WeightSpectrum& head) {
  const std::vector<double>& values = head.singular_values;
  return {{{.name = "index",
            .value = [](std::size_t row) { return static_cast<std::int64_t>(row) + 1; }},
           {.name = "singular_value", .value = [&values](std::size_t row) { return values[row]; }}},
          values.size()};
}

}  // namespace

Report weight_heads_report(const std::vector<WeightSpectrum>& spectra,
                           const RankThreshold& threshold) {
  using Head = WeightSpectrum;
  const auto greatest = [](const Head& head) { return head.singular_values.front(); };
  const auto least = [](const Head& head) { return head.singular_values.back(); };
  return report_on(
      spectra,
      {{{.name = "layer", .title = "layer", .width = 5}, &Head::layer},
       {{.name = "head", .title = "head", .width = 5}, &Head::head},
       {json_only("singular_values"),
        [](const Head& head) { return json_cell(head.singular_values); }},
       {csv_only("singular_values"),
        [](const Head& head) { return table_cell(weight_values_report(head)); }},
       {{.title = "σ1", .width = 8, .decimals = 3}, greatest},
       {{.title = "σd", .width = 8, .decimals = 3}, least},
       {{.name = "equivalent_rank", .title = "rank, " + to_string(threshold), .decimals = 0},
        &Head::equivalent_rank},
       {{.name = "effective_rank", .title = "effective", .decimals = 1}, &Head::effective_rank},
       {{.name = "stable_rank", .title = "stable", .decimals = 1}, &Head::stable_rank},
       {{.name = "copying", .title = "copying", .decimals = 3}, &Head::copying}});
}

std::string weights_in_words(const std::string& model, WeightProduct product) {
  return model + ": W_" + (product == WeightProduct::qk ? "QK = W_Q W_Kᵀ" : "OV = W_V W_O") +
         " of each head, rank at most d\n";
}

}  // namespace attnscope
