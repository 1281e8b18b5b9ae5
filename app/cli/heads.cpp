// attnscope heads: the measures that papers report for each attention head.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/heads/head_table.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/layer_column.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/model/subject.h"
#include "core/shown_text.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "core/trace/layer_layout.h"
#include "core/trace/trace_channel.h"

namespace attnscope {

namespace {

// Output of `attnscope heads`: a table for people, JSON and CSV for programs.

struct HeadsReport {
  HeadOptions options;
  std::vector<Subject> subjects;  ///< each with a trace
  std::vector<HeadTable> tables;  ///< one table per subject
};

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

std::string table_text(const Subject& subject, const HeadTable& table, const HeadOptions& options) {
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

/// One row per head, without columns that are empty for all heads of the subject; then the sinks
/// and a legend of the columns.
std::string heads_as_text(const HeadsReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    if (i > 0) text += "\n";
    text += table_text(report.subjects[i], report.tables[i], report.options);
  }
  return text + "a: rows divided by their sums; τ = " + rounded_text(report.options.threshold) +
         ", ε = " + rounded_text(report.options.sink) + ", mass " +
         rounded_text(100 * report.options.mass) + " %; –: not known\n";
}

/// A header and one row per head: the head, its sinks and every measure; unknown values are empty.
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

/// Format as in docs/json-output.md; unknown values are null.
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

struct HeadsArguments {
  ModelArguments models;
  HeadOptions options;
  AnalysedArgument analysed;
  std::string layers = "all", heads = "all";
  bool json = false;
  bool csv = false;
};

HeadsReport heads_report(const HeadsArguments& arguments, const Progress& progress) {
  HeadsReport report;
  report.options = arguments.options;
  report.options.layers = index_list(arguments.layers, "--layers");
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  TraceRequest request;
  request.queries_keys_values = true;
  request.layers = report.options.layers;
  report.options.analysed = analysed_of(arguments.analysed);
  request_analysed(report.options.analysed, request);
  report.subjects = make_subjects(arguments.models, request, progress.part(0, 0.6));
  const double share = 0.4 / static_cast<double>(report.subjects.size());
  for (const Subject& subject : report.subjects) {
    const double first = 0.6 + share * static_cast<double>(report.tables.size());
    report.tables.push_back(
        head_table(subject, report.options, progress.part(first, first + share)));
    keep_heads(report.tables.back().rows, heads, &HeadRow::head);
  }
  return report;
}

void print(const HeadsReport& report, const HeadsArguments& arguments) {
  write_to_standard_output(arguments.json  ? heads_as_json(report)
                           : arguments.csv ? heads_as_csv(report)
                                           : heads_as_text(report));
  if (!arguments.json) print_status(arguments.csv ? stderr : stdout, report.subjects);
}

}  // namespace

Action add_heads(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<HeadsArguments>();
  added = parent.add_subcommand(
      "heads", "Entropy, sinks, distances, ranks and norms of every attention head");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  const auto add_share = [&](const char* name, double& value, const char* what) {
    added->add_option(name, value, what)->type_name("T")->capture_default_str();
  };
  add_share("--threshold", arguments->options.threshold,
            "Threshold of the equivalent rank, above 0, at most 1");
  add_share("--sink", arguments->options.sink,
            "Share of the attention above which a key is a sink");
  add_share(
      "--mass", arguments->options.mass,
      "Share of the class token's attention to patches that the counted strongest patches hold");
  added->add_flag("--baselines", arguments->options.baselines,
                  "Also report ranks of null models: maps with shuffled rows, and rank / null");
  add_analysed_options(*added, arguments->analysed);
  CLI::Option* json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each head")->excludes(json);
  add_mechanism_options(*added, arguments->models);
  add_channel_option(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope heads vit.safetensors --input cat.png",
                        "attnscope heads gpt2.safetensors --input text:To-be --csv >heads.csv",
                        "attnscope heads vit.safetensors --input cat.png --of seen-by-values",
                        "attnscope heads softmax.h5 adder.h5 --input boot.png --sink 0.5 --json"});
  return [arguments] {
    const HeadsReport report = [&] {
      const TerminalProgress line;
      return heads_report(*arguments, line.progress());
    }();
    print(report, *arguments);
    return 0;
  };
}

}  // namespace attnscope
