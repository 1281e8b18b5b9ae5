#include "app/cli/comparison_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/analysed/analysed.h"
#include "analysis/figure/table.h"
#include "app/cli/analysed_output.h"
#include "app/cli/identity_argument.h"
#include "app/cli/layer_column.h"
#include "app/cli/table_cell.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;
using Quantity = ComparisonQuantity;

const char* name_of(LayerAlignment alignment) {
  return alignment == LayerAlignment::by_index ? "index" : "depth";
}

std::string text_of(std::string_view view) { return std::string(view); }

ordered_json json_number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

bool is_of_others(const ComparisonReport& report) {
  return !(report.options.analysed == Analysed{});
}

ordered_json index(std::int64_t value) {
  return value >= 0 ? ordered_json(value) : ordered_json(nullptr);
}

void add_values(ordered_json& object, const ComparisonValues& values,
                const std::string& suffix = {}) {
  for (const ComparisonQuantityEntry& entry : comparison_quantities()) {
    object[text_of(entry.name) + suffix] = json_number(values[entry.quantity]);
  }
}

ordered_json json_of(const PredictionAgreement& predictions, const std::string& why_none) {
  if (!why_none.empty()) return {{"not_compared", why_none}};
  return {{"items", predictions.items},
          {"agreeing", predictions.agreeing},
          {"agreement", json_number(predictions.share())},
          {"standard_error", json_number(predictions.standard_error())},
          {"mean_js_divergence_bits", json_number(predictions.mean_divergence())},
          {"labelled", predictions.labelled},
          {"both_right", predictions.both_right},
          {"only_reference_right", predictions.only_reference_right},
          {"only_compared_right", predictions.only_other_right},
          {"both_wrong", predictions.both_wrong},
          {"not_finite", predictions.not_finite}};
}

ordered_json json_of(const ComparisonReport::Compared& compared, bool over_data_set) {
  const SubjectComparison& result = compared.result.mean;
  ordered_json mean = ordered_json::object(), layers = ordered_json::array(),
               maps = ordered_json::array();
  add_values(mean, result.mean);
  for (const ComparedLayer& layer : result.layers) {
    ordered_json object = {{"layer", layer.layer},
                           {"reference_layer", index(layer.reference_layer)}};
    add_values(object, layer.values);
    if (!layer.why_no_cka.empty()) object["why_no_cka"] = layer.why_no_cka;
    layers.push_back(std::move(object));
  }
  for (std::size_t i = 0; i < result.maps.size(); ++i) {
    const ComparedMap& map = result.maps[i];
    ordered_json object = {{"layer", map.layer},
                           {"head", index(map.head)},
                           {"reference_layer", index(map.reference_layer)},
                           {"reference_head", index(map.reference_head)},
                           {"state", text_of(describe(map.state))},
                           {"rows_with_negative_weights", map.rows_with_negatives}};
    add_values(object, map.values);
    if (over_data_set) {
      add_values(object, compared.result.deviation[i], "_standard_deviation");
    } else {
      ordered_json rows = ordered_json::array();
      for (const double bits : map.row_divergence) rows.push_back(json_number(bits));
      object["row_js_divergence_bits"] = std::move(rows);
    }
    maps.push_back(std::move(object));
  }
  ordered_json object = {{"label", compared.label},
                         {"mechanism", to_string(compared.mechanism)},
                         {"identity", name_of(compared.view)},
                         {"maps_compared", result.maps_compared},
                         {"left_out", result.summary},
                         {"mean", std::move(mean)},
                         {"layers", std::move(layers)},
                         {"maps", std::move(maps)}};
  if (over_data_set) {
    object["items"] = compared.result.items;
    object["predictions"] =
        json_of(compared.result.predictions, compared.result.why_no_predictions);
  }
  return object;
}

// --- text -------------------------------------------------------------------------------------

struct TextColumn {
  Quantity quantity;
  const char* title;
  int width, digits;
};

constexpr std::array kColumns = {TextColumn{Quantity::divergence, "JS", 7, 4},
                                 TextColumn{Quantity::largest_divergence, "JS max", 7, 4},
                                 TextColumn{Quantity::cosine_distance, "1-cos", 7, 4},
                                 TextColumn{Quantity::frobenius_distance, "|A-B|", 7, 3},
                                 TextColumn{Quantity::relative_frobenius, "rel.", 6, 3},
                                 TextColumn{Quantity::spectrum_distance, "spectrum", 8, 4},
                                 TextColumn{Quantity::rank, "rank", 6, 1},
                                 TextColumn{Quantity::reference_rank, "ref.", 6, 1},
                                 TextColumn{Quantity::rank_difference, "diff.", 6, 1},
                                 TextColumn{Quantity::rank_over_null, "/null", 6, 3},
                                 TextColumn{Quantity::reference_rank_over_null, "ref./n", 6, 3},
                                 TextColumn{Quantity::cka, "CKA", 6, 3}};

/// The columns that the options select.
std::vector<TextColumn> shown_columns(const ComparisonOptions& options) {
  std::vector<TextColumn> columns(kColumns.begin(), kColumns.end());
  std::erase_if(columns, [&](const TextColumn& column) {
    return !options.baselines && (column.quantity == Quantity::rank_over_null ||
                                  column.quantity == Quantity::reference_rank_over_null);
  });
  return columns;
}

std::string place_text(std::int64_t layer, std::int64_t head) {
  return layer < 0 ? "–" : std::to_string(layer) + (head < 0 ? "" : "." + std::to_string(head));
}

void add_row(std::string& text, const std::string& layer, const std::string& head,
             const std::string& beside, const ComparisonValues& values, bool with_cka,
             const std::vector<TextColumn>& columns) {
  text += layer + right_cell(head, 6) + right_cell(beside, 8);
  for (const TextColumn& column : columns) {
    if (column.quantity == Quantity::cka && !with_cka) continue;
    text += "  " + number_cell(values[column.quantity], column.width, column.digits);
  }
}

std::string map_table(const SubjectComparison& result, const LayerColumn& name_of_layer,
                      const ComparisonOptions& options) {
  const std::vector<TextColumn> columns = shown_columns(options);
  std::string text = name_of_layer.heading() + "  head  beside";
  for (const TextColumn& column : columns) {
    text += "  " + right_cell(column.title, column.width);
  }
  text += "\n";
  for (const ComparedLayer& layer : result.layers) {
    std::string state;  // state of the layer's single matrix
    for (const ComparedMap& map : result.maps) {
      if (map.layer != layer.layer) continue;
      if (map.head == kAllHeads) {
        if (map.state != MapPairState::compared) state = "  " + text_of(describe(map.state));
        continue;
      }
      add_row(text, name_of_layer(map.layer), std::to_string(map.head),
              place_text(map.reference_layer, map.reference_head), map.values, false, columns);
      if (map.state != MapPairState::compared) text += "  " + text_of(describe(map.state));
      text += "\n";
    }
    const bool one = is_of_layer(options.analysed.of);
    add_row(text, name_of_layer(layer.layer), one ? "–" : "mean",
            place_text(layer.reference_layer, -1), layer.values, true, columns);
    text += state + "\n";
  }
  add_row(text, name_of_layer.cell("all"), "mean", "", result.mean, true, columns);
  return text + "\n";
}

std::string predictions_text(const ComparisonReport::Compared& compared,
                             const std::string& reference) {
  const PredictionAgreement& p = compared.result.predictions;
  if (!compared.result.why_no_predictions.empty()) {
    return "predictions were not compared: " + compared.result.why_no_predictions + "\n";
  }
  std::string text = "predictions agree on " + std::to_string(p.agreeing) + " of " +
                     std::to_string(p.items) + " items: " + fixed_text(100 * p.share(), 2) +
                     " % ± " + fixed_text(100 * p.standard_error(), 2) +
                     "; their JS divergence is " + fixed_text(p.mean_divergence(), 4) + " bits\n";
  if (p.labelled > 0) {
    text += "  both right " + std::to_string(p.both_right) + ", only " + reference + " " +
            std::to_string(p.only_reference_right) + ", only " + compared.label + " " +
            std::to_string(p.only_other_right) + ", both wrong " + std::to_string(p.both_wrong) +
            "\n";
  }
  if (p.not_finite > 0) {
    text += "  " + std::to_string(p.not_finite) + " with NaN or Inf in the logits, not counted\n";
  }
  return text;
}

}  // namespace

std::string comparison_as_json(const ComparisonReport& report) {
  const bool over_data_set = !report.data_set.empty();
  ordered_json compared = ordered_json::array();
  for (const auto& one : report.compared) compared.push_back(json_of(one, over_data_set));
  ordered_json json = {
      {"reference", report.reference},
      {"reference_mechanism", to_string(report.reference_mechanism)},
      {over_data_set ? "data_set" : "input", over_data_set ? report.data_set : report.input},
      {"layers", name_of(report.options.layers)},
      {"heads", report.options.match_heads ? "matched" : "index"},
      {"identity", report.identity}};
  add_analysed(json, report.options.analysed);
  json["threshold"] = report.options.threshold;
  json["compared"] = std::move(compared);
  json["assumed"] = report.assumed;
  if (over_data_set) {
    json["data_set_size"] = report.data_set_size;
    json["seed"] = report.choice.seed;
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string comparison_as_csv(const ComparisonReport& report) {
  const bool over_data_set = !report.data_set.empty();
  Table table;
  table.header = {"subject",         "reference",      "layer", "head",
                  "reference_layer", "reference_head", "state"};
  for (const ComparisonQuantityEntry& entry : comparison_quantities()) {
    table.header.push_back(text_of(entry.name));
    if (over_data_set) table.header.push_back(text_of(entry.name) + "_standard_deviation");
  }
  table.header.emplace_back("identity");
  if (is_of_others(report)) table.header.insert(table.header.end(), {"of", "centred", "added"});
  for (const auto& compared : report.compared) {
    const std::vector<ComparedMap>& maps = compared.result.mean.maps;
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const ComparedMap& map = maps[i];
      const auto place = [](std::int64_t value) {
        return value < 0 ? std::string() : std::to_string(value);
      };
      const auto value_text = [](double value) {
        return std::isnan(value) ? std::string() : exact(value);
      };
      std::vector<std::string> row = {compared.label,
                                      report.reference,
                                      place(map.layer),
                                      place(map.head),
                                      place(map.reference_layer),
                                      place(map.reference_head),
                                      text_of(describe(map.state))};
      for (const ComparisonQuantityEntry& entry : comparison_quantities()) {
        row.push_back(value_text(map.values[entry.quantity]));
        if (over_data_set) {
          row.push_back(value_text(compared.result.deviation[i][entry.quantity]));
        }
      }
      row.push_back(name_of(compared.view));
      const std::vector<std::string> of = analysed_cells(report.options.analysed);
      row.insert(row.end(), of.begin(), of.end());
      table.rows.push_back(std::move(row));
    }
  }
  return table_as_csv(table);
}

std::string comparison_as_text(const ComparisonReport& report) {
  const bool over_data_set = !report.data_set.empty();
  std::string text =
      "reference: " + report.reference + ", " + to_string(report.reference_mechanism) + "\n";
  text += over_data_set
              ? "means over " + choice_in_words(report.data_set_size, report.choice, "items") +
                    " of " + report.data_set
              : "on " + report.input;
  text +=
      "; " + alignment_in_words(report.options) + "; identity " + report.identity + "; ranks at " +
      rounded_text(report.options.threshold) +
      (is_of_others(report) ? "\nof: " + in_words(report.options.analysed) : "") +
      "\nJS: Jensen-Shannon divergence of rows in bits (rows over the sum of their magnitudes); "
      "1-cos: cosine distance; |A-B|: Frobenius distance; differences are compared - reference\n" +
      std::string(report.options.baselines
                      ? "/null: rank over that of the map with its rows shuffled, mean of 8\n"
                      : "");
  for (const auto& compared : report.compared) {
    text += "\n" + compared.label + ", " + to_string(compared.mechanism);
    if (report.identity == "both") text += ", maps " + name_of(compared.view) + " I";
    text += "\n";
    text += map_table(compared.result.mean, LayerColumn(compared.layers), report.options);
    if (!compared.result.mean.summary.empty()) {
      text += "left out: " + compared.result.mean.summary + "\n";
    }
    if (over_data_set) text += predictions_text(compared, report.reference);
  }
  for (const std::string& words : report.assumed) text += "\n" + words + "\n";
  return text;
}

}  // namespace attnscope
