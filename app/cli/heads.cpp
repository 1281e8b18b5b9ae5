// attnscope heads: the measures that papers report for each attention head.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/heads/head_table.h"
#include "analysis/tables/reports.h"
#include "analysis/tables/shared_columns.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/model/subject.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

// Output of `attnscope heads`: a table for people, JSON and CSV for programs.

struct HeadsReport {
  HeadOptions options;
  std::vector<Subject> subjects;  ///< each with a trace
  std::vector<HeadTable> tables;  ///< one table per subject
  std::optional<double> at_entropy = {};
  std::vector<std::vector<EntropyRank>> entropy_ranks =
      {};  ///< by table and row; empty unless asked for
};

using nlohmann::ordered_json;

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

std::string heading_of(const Subject& subject, const HeadTable& table) {
  const Trace& trace = *subject.trace;
  std::string text = shown_text(subject.label) + ": " + to_string(trace.mechanism) +
                     training_note(trace.mechanism_trained) + ", " + shown_text(trace.input_label) +
                     "\n";
  if (trace.map_channels > 1) text += "maps: " + channel_in_words(trace) + "\n";
  const auto removed =
      std::ranges::count_if(table.rows, [](const HeadRow& row) { return row.identity_removed; });
  if (removed > 0) {
    text += std::to_string(removed) + " of " + std::to_string(table.rows.size()) +
            " maps are seen without the I that they contain\n";
  }
  return text + "\n";
}

/// The heads of one model.
Report head_report_of(const HeadsReport& report, std::size_t index) {
  const bool ranked = report.at_entropy.has_value();
  return head_report(*report.subjects[index].trace, report.tables[index], report.at_entropy,
                     ranked ? &report.entropy_ranks[index] : nullptr);
}

ReportValue sink_counts_json(const HeadTable& table, std::int64_t& of) {
  return table_cell(report_of<SinkCount>(
      sink_counts(table, of),
      {{{.name = "key"}, &SinkCount::key}, {{.name = "heads"}, &SinkCount::heads}}));
}

/// One row per model.
Report models_report(const HeadsReport& report) {
  struct Model {
    const Subject* subject;
    const HeadTable* table;
    std::size_t index;
  };
  std::vector<Model> models;
  for (const HeadTable& table : report.tables) {
    models.push_back({&report.subjects[models.size()], &table, models.size()});
  }
  const auto if_said = [](const std::string& text) { return known_if(!text.empty(), text); };
  const auto trace = [](const Model& one) -> const Trace& { return *one.subject->trace; };
  auto columns = model_columns<Model>("label");
  append(
      columns,
      {{json_only("mechanism"), [=](const Model& one) { return to_string(trace(one).mechanism); }},
       {json_only("mechanism_trained"),
        [=](const Model& one) { return trace(one).mechanism_trained; }},
       {{.name = "input"}, [=](const Model& one) { return trace(one).input_label; }},
       {json_only("channels"),
        [=](const Model& one) { return if_said(channel_in_words(trace(one))); }},
       {json_only("distance_unit"),
        [=](const Model& one) { return if_said(one.table->distance_unit); }},
       {json_only("heads_with_known_sinks"),
        [](const Model& one) {
          std::int64_t of = 0;
          (void)sink_counts(*one.table, of);
          return of;
        }},
       {json_only("sink_counts"),
        [](const Model& one) {
          std::int64_t of = 0;
          return sink_counts_json(*one.table, of);
        }},
       {{.name = "heads"},
        [&report](const Model& one) { return table_cell(head_report_of(report, one.index)); }}});
  add_analysed(columns, report.options.analysed);
  return report_of(std::move(models), std::move(columns));
}

/// The heads of each model with their sinks and a legend of the columns.
std::string heads_as_text(const HeadsReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const Subject& subject = report.subjects[i];
    const HeadTable& table = report.tables[i];
    const Report heads = head_report_of(report, i);
    text += (i > 0 ? "\n" : "") + heading_of(subject, table) + report_as_text(heads) + "\n" +
            sinks_in_words(*subject.trace, table, report.options) + report_legend(heads);
  }
  return text + head_signs_in_words(report.options);
}

/// Format as in docs/json-output.md.
ordered_json heads_as_json(const HeadsReport& report) {
  ordered_json measures = ordered_json::array();
  for (const HeadMeasure& measure : head_measures()) {
    measures.push_back({{"name", measure.name},
                        {"title", title_of(measure, {}, report.options.analysed)},
                        {"formula", formula_of(measure, report.options.analysed)}});
  }
  ordered_json json;
  add_threshold(json, report.options.threshold);
  json["sink"] = report.options.sink;
  json["mass"] = report.options.mass;
  if (report.at_entropy) json["at_entropy"] = *report.at_entropy;
  add_analysed(json, report.options.analysed);
  json["measures"] = std::move(measures);
  json["subjects"] = report_as_json(models_report(report));
  json["assumed"] = status_lines(report.subjects);
  return json;
}

struct HeadsArguments {
  ModelArguments models;
  HeadOptions options;
  AnalysedArgument analysed;
  std::string layers = "all", heads = "all";
  std::optional<double> at_entropy = {};
  TableFormat format = TableFormat::text;
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
  report.at_entropy = arguments.at_entropy;
  if (report.at_entropy) check_equal_entropy(*report.at_entropy, report.options.analysed);
  report.subjects = make_subjects(arguments.models, request, progress.part(0, 0.6));
  const double share = 0.4 / static_cast<double>(report.subjects.size());
  for (const Subject& subject : report.subjects) {
    const double first = 0.6 + share * static_cast<double>(report.tables.size());
    report.tables.push_back(
        head_table(subject, report.options, progress.part(first, first + share)));
    keep_heads(report.tables.back().rows, heads, &HeadRow::head);
    if (!report.at_entropy) continue;
    report.entropy_ranks.push_back(ranks_at_entropy(
        *subject.trace, *report.at_entropy, report.options.analysed.seen(IdentityView::without),
        {.threshold = report.options.threshold, .layers = report.options.layers},
        progress.silent()));
    keep_heads(report.entropy_ranks.back(), heads, &EntropyRank::head);
  }
  return report;
}

}  // namespace

Action add_heads(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<HeadsArguments>();
  added = parent.add_subcommand("heads", "Entropy, sinks, distances, ranks and norms per head");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_threshold_options(*added, arguments->options.threshold);
  add_value_option(*added, "--sink", arguments->options.sink,
                   "Share of the attention above which a key is a sink", "T");
  add_value_option(
      *added, "--mass", arguments->options.mass,
      "Share of the class token's attention to patches that the counted strongest patches hold",
      "T");
  added->add_flag("--baselines", arguments->options.baselines,
                  "Also report ranks of null models: maps with shuffled rows, and rank / null");
  add_entropy_option(*added, arguments->at_entropy);
  add_analysed_options(*added, arguments->analysed);
  add_format_options(*added, arguments->format, "a row for each head");
  add_mechanism_options(*added, arguments->models);
  add_channel_option(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope heads vit.safetensors --input cat.png",
                        "attnscope heads gpt2.safetensors --input text:To-be --csv >heads.csv",
                        "attnscope heads vit.safetensors --input cat.png --of seen-by-values",
                        "attnscope heads softmax.h5 adder.h5 --input boot.png --at-entropy 0.8",
                        "attnscope heads softmax.h5 adder.h5 --input boot.png --sink 0.5 --json"});
  return [arguments] {
    const HeadsReport report = [&] {
      const TerminalProgress line;
      return heads_report(*arguments, line.progress());
    }();
    print_results(
        arguments->format, report.subjects, [&report] { return heads_as_text(report); },
        [&report] { return heads_as_json(report); }, [&report] { return models_report(report); });
    return 0;
  };
}

}  // namespace attnscope
