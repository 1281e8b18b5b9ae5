#include "app/cli/heads_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/analysed_output.h"
#include "app/cli/layer_column.h"
#include "app/cli/status_line.h"
#include "app/cli/table_cell.h"
#include "core/shown_text.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"
#include "core/trace/layer_layout.h"
#include "core/trace/trace_channel.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

std::vector<const HeadMeasure*> known_measures(const HeadTable& table) {
  std::vector<const HeadMeasure*> known;
  for (const HeadMeasure& measure : head_measures()) {
    const bool any = std::ranges::any_of(
        table.rows, [&](const HeadRow& row) { return !std::isnan(row.*measure.value); });
    if (any) known.push_back(&measure);
  }
  return known;
}

/// Name of a key: "0 (class)", or "17" if it has no name of its own.
std::string key_name(const Trace& trace, std::int64_t layer, std::int64_t key) {
  const std::string index = std::to_string(key);
  const std::string name = key_layout(trace, layer).name(key);
  return name.empty() || name == index ? index : index + " (" + shown_text(name) + ")";
}

std::string sinks_in_words(const Trace& trace, const HeadTable& table, const HeadOptions& options) {
  std::int64_t of = 0;
  const std::vector<SinkCount> counts = sink_counts(table, of);
  std::string text = "sinks (α > " + rounded_text(options.sink) + "): ";
  if (of == 0) return text + "–\n";
  if (counts.empty()) return text + "none in " + std::to_string(of) + " heads\n";
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(counts.size(), most); ++i) {
    // The name is that of the first layer with this sink, because keys of reduced layers differ.
    const auto first = std::ranges::find_if(table.rows, [&](const HeadRow& row) {
      return std::ranges::any_of(row.sinks,
                                 [&](const Sink& sink) { return sink.key == counts[i].key; });
    });
    text += (i > 0 ? ", key " : "key ") + key_name(trace, first->layer, counts[i].key) + " in " +
            std::to_string(counts[i].heads) + " of " + std::to_string(of) + " heads";
  }
  if (counts.size() > most) text += ", and " + std::to_string(counts.size() - most) + " more keys";
  return text + "\n";
}

int width_of(const HeadMeasure& measure, const HeadTable& table) {
  return std::max(static_cast<int>(columns_of(heading_of(measure, table.analysed))), 7) + 2;
}

std::string heading_of(const Subject& subject, const HeadTable& table) {
  const Trace& trace = *subject.trace;
  std::string text = shown_text(subject.label) + ": " + to_string(trace.mechanism) +
                     (trace.mechanism_trained
                          ? ""
                          : " (not trained: laid over weights trained with another mechanism)") +
                     ", " + shown_text(trace.input_label) + "\n";
  if (trace.map_channels > 1) text += "maps: " + channel_in_words(trace) + "\n";
  const auto removed =
      std::ranges::count_if(table.rows, [](const HeadRow& row) { return row.identity_removed; });
  if (removed > 0) {
    text += std::to_string(removed) + " of " + std::to_string(table.rows.size()) +
            " maps are seen without the I that they contain\n";
  }
  return text + "\n";
}

std::string text_of(const Subject& subject, const HeadTable& table, const HeadOptions& options) {
  const std::vector<const HeadMeasure*> measures = known_measures(table);
  const LayerColumn layer(layers_in_words(*subject.trace));
  std::string text = heading_of(subject, table) + layer.heading() + "  head";
  for (const HeadMeasure* measure : measures) {
    text += right_cell(heading_of(*measure, table.analysed), width_of(*measure, table));
  }
  text += "\n";
  for (const HeadRow& row : table.rows) {
    text += layer(row.layer) + right_cell(std::to_string(row.head), 6);
    for (const HeadMeasure* measure : measures) {
      text += number_cell(row.*measure->value, width_of(*measure, table), measure->decimals);
    }
    if (row.state != HeadState::ready) text += "  " + std::string(describe(row.state));
    text += "\n";
  }
  text += "\n" + sinks_in_words(*subject.trace, table, options);
  int legend = 11;
  for (const HeadMeasure* measure : measures) {
    const auto width = static_cast<int>(columns_of(heading_of(*measure, table.analysed)));
    legend = std::max(legend, width + 2);
  }
  for (const HeadMeasure* measure : measures) {
    const bool in_unit = measure->value == &HeadRow::distance;
    text += left_cell(heading_of(*measure, table.analysed), legend) +
            formula_of(*measure, table.analysed) + (in_unit ? "; in " + table.distance_unit : "") +
            "\n";
  }
  return text;
}

std::string sinks_as_field(const HeadRow& row) {
  std::string text;
  for (const Sink& sink : row.sinks) text += (text.empty() ? "" : " ") + std::to_string(sink.key);
  return text;
}

ordered_json number(double value) {
  return std::isnan(value) ? ordered_json(nullptr) : ordered_json(value);
}

ordered_json json_of(const HeadRow& row) {
  ordered_json sinks = nullptr;
  if (row.state == HeadState::ready) {
    sinks = ordered_json::array();
    for (const Sink& sink : row.sinks) sinks.push_back({{"key", sink.key}, {"share", sink.share}});
  }
  ordered_json object = {{"layer", row.layer},
                         {"head", row.head},
                         {"state", describe(row.state)},
                         {"causal", row.causal},
                         {"identity_removed", row.identity_removed},
                         {"sinks", std::move(sinks)}};
  for (const HeadMeasure& measure : head_measures()) {
    object[std::string(measure.name)] = number(row.*measure.value);
  }
  return object;
}

ordered_json json_of(const Subject& subject, const HeadTable& table) {
  const Trace& trace = *subject.trace;
  ordered_json heads = ordered_json::array(), counts = ordered_json::array();
  for (const HeadRow& row : table.rows) heads.push_back(json_of(row));
  std::int64_t of = 0;
  for (const SinkCount& count : sink_counts(table, of)) {
    counts.push_back({{"key", count.key}, {"heads", count.heads}});
  }
  const std::string channels = channel_in_words(trace);
  return {{"label", subject.label},
          {"status", status_as_json(status_of(subject))},
          {"mechanism", to_string(trace.mechanism)},
          {"mechanism_trained", trace.mechanism_trained},
          {"input", trace.input_label},
          {"channels", channels.empty() ? ordered_json(nullptr) : ordered_json(channels)},
          {"distance_unit",
           table.distance_unit.empty() ? ordered_json(nullptr) : ordered_json(table.distance_unit)},
          {"heads_with_known_sinks", of},
          {"sink_counts", std::move(counts)},
          {"heads", std::move(heads)}};
}

}  // namespace

std::string heads_as_text(const HeadsReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    if (i > 0) text += "\n";
    text += text_of(report.subjects[i], report.tables[i], report.options);
  }
  return text + "a: rows divided by their sums; τ = " + rounded_text(report.options.threshold) +
         ", ε = " + rounded_text(report.options.sink) + ", mass " +
         rounded_text(100 * report.options.mass) + " %; –: not known\n";
}

std::string heads_as_csv(const HeadsReport& report) {
  std::string text = "model,input,layer,head,state,causal,identity_removed,distance_unit,sinks";
  const std::string of = analysed_csv(report.options.analysed);
  for (const HeadMeasure& measure : head_measures()) text += "," + std::string(measure.name);
  text += of.empty() ? "\n" : ",of,centred,added\n";
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const Subject& subject = report.subjects[i];
    for (const HeadRow& row : report.tables[i].rows) {
      text += csv_field(subject.label) + "," + csv_field(subject.trace->input_label) + "," +
              std::to_string(row.layer) + "," + std::to_string(row.head) + "," +
              csv_field(std::string(describe(row.state))) + "," + (row.causal ? "true" : "false") +
              "," + (row.identity_removed ? "true" : "false") + "," +
              report.tables[i].distance_unit + "," + sinks_as_field(row);
      for (const HeadMeasure& measure : head_measures()) {
        const double value = row.*measure.value;
        text += "," + (std::isnan(value) ? std::string() : rounded_text(value, 9));
      }
      text += of + "\n";
    }
  }
  return text;
}

std::string heads_as_json(const HeadsReport& report) {
  ordered_json measures = ordered_json::array(), subjects = ordered_json::array();
  for (const HeadMeasure& measure : head_measures()) {
    measures.push_back({{"name", measure.name},
                        {"title", title_of(measure, {}, report.options.analysed)},
                        {"formula", formula_of(measure, report.options.analysed)}});
  }
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    subjects.push_back(json_of(report.subjects[i], report.tables[i]));
  }
  ordered_json json = {{"threshold", report.options.threshold},
                       {"sink", report.options.sink},
                       {"mass", report.options.mass}};
  add_analysed(json, report.options.analysed);
  json["measures"] = std::move(measures);
  json["subjects"] = std::move(subjects);
  json["assumed"] = status_lines(report.subjects);
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace attnscope
