// attnscope components: the rank-one parts whose sum is an attention map.
#include "analysis/components/components.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/matrix/analysed_matrix.h"
#include "analysis/tables/reports.h"
#include "analysis/tables/shared_columns.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

struct ComponentsArguments {
  ModelArguments models;
  std::string layers = "0", heads = "all", identity = "as-is";
  AnalysedArgument analysed;
  std::int64_t count = 4;
  TableFormat format = TableFormat::text;
};

struct ComponentsReport {
  MatrixChoice analysed;
  std::vector<Subject> subjects;
  std::vector<std::vector<MapComponents>> maps;  ///< one list per subject
};

std::vector<MapComponents> components_of(const Subject& subject, const MatrixChoice& analysed,
                                         const ComponentsArguments& arguments,
                                         const Progress& progress) {
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  std::vector<MapIndex> places =
      places_of(*subject.trace, analysed, index_list(arguments.layers, "--layers"));
  std::erase_if(places, [&heads](const MapIndex& place) {
    return !heads.empty() && std::ranges::count(heads, place.head) == 0;
  });
  if (places.empty()) {
    throw Error(ErrorKind::usage, "no layer has this head").about("--heads").found(arguments.heads);
  }
  const std::vector<IdentityView> views = identity_views(arguments.identity);
  const double share = 1 / static_cast<double>(views.size());
  std::vector<MapComponents> found;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const double first = share * static_cast<double>(v);
    std::vector<MapComponents> seen(places.size());
    for_each_map(
        *subject.trace, places, progress.part(first, first + share),
        [&](std::size_t index) {
          seen[index] =
              map_components(subject, places[index], analysed.seen(views[v]), arguments.count);
          return [] {};
        },
        "components");
    std::ranges::move(seen, std::back_inserter(found));
  }
  return found;
}

ComponentsReport components_report(const ComponentsArguments& arguments, const Progress& progress) {
  ComponentsReport report;
  report.analysed = analysed_of(arguments.analysed);
  check_added(report.analysed);
  for (const IdentityView view : identity_views(arguments.identity)) {
    check_view(report.analysed.seen(view));
  }
  if (arguments.heads != "all" && is_of_layer(report.analysed.of)) {
    throw Error(ErrorKind::usage, "the analysed matrix is defined per layer, not per head")
        .about("--heads")
        .found(in_words(report.analysed));
  }
  TraceRequest request;
  request.layers = index_list(arguments.layers, "--layers");
  request_analysed(report.analysed, request);
  report.subjects = make_subjects(arguments.models, request, progress.part(0, 0.5));
  const double share = 0.5 / static_cast<double>(report.subjects.size());
  for (const Subject& subject : report.subjects) {
    const double first = 0.5 + share * static_cast<double>(report.maps.size());
    report.maps.push_back(
        components_of(subject, report.analysed, arguments, progress.part(first, first + share)));
  }
  return report;
}

/// One row per model.
Report models_report(const ComponentsReport& report) {
  struct Model {
    const Subject* subject;
    const std::vector<MapComponents>* maps;
  };
  std::vector<Model> models;
  for (const Subject& subject : report.subjects) {
    models.push_back({&subject, &report.maps[models.size()]});
  }
  auto columns = model_columns<Model>("label");
  append(columns,
         {{json_only("mechanism"),
           [](const Model& one) { return to_string(one.subject->trace->mechanism); }},
          {{.name = "input"}, [](const Model& one) { return one.subject->trace->input_label; }},
          {{.name = "maps"}, [&report](const Model& one) {
             return table_cell(components_report(*one.subject->trace, report.analysed, *one.maps));
           }}});
  add_analysed(columns, report.analysed, "analysed");
  return report_of(std::move(models), std::move(columns));
}

std::string components_as_text(const ComponentsReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const Trace& trace = *report.subjects[i].trace;
    text += (i > 0 ? "\n" : "") + shown_text(report.subjects[i].label) + ": " +
            to_string(trace.mechanism) + ", " + shown_text(trace.input_label) + "\n" +
            (report.analysed.is_plain_map() ? "" : "of: " + in_words(report.analysed) + "\n") +
            "\n" + report_as_text(components_report(trace, report.analysed, report.maps[i]));
  }
  return text;
}

nlohmann::ordered_json components_as_json(const ComponentsReport& report) {
  nlohmann::ordered_json json;
  add_analysed(json, report.analysed);
  json["rows"] = name_of(extent_names, rows_of(report.analysed.of));
  json["columns"] = name_of(extent_names, columns_of(report.analysed.of));
  json["subjects"] = report_as_json(models_report(report));
  return json;
}

}  // namespace

Action add_components(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<ComponentsArguments>();
  added = parent.add_subcommand("components", "Singular vectors: which queries read which keys");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_identity_option(*added, arguments->identity);
  add_analysed_options(*added, arguments->analysed);
  add_value_option(*added, "--components", arguments->count, "Number of leading components per map",
                   "N")
      ->check(CLI::PositiveNumber);
  add_format_options(*added, arguments->format, "a row for each entry of each vector");
  add_mechanism_options(*added, arguments->models);
  add_channel_option(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope components vit.safetensors --input cat.png --layers 11 --heads 0",
                "attnscope components vit.safetensors --input cat.png --of head-output --heads 0",
                "attnscope components gpt2.safetensors --input text:To-be --layers 5 --json"});
  return [arguments] {
    const ComponentsReport report = [&] {
      const TerminalProgress line;
      return components_report(*arguments, line.progress());
    }();
    print_results(
        arguments->format, report.subjects, [&report] { return components_as_text(report); },
        [&report] { return components_as_json(report); },
        [&report] { return models_report(report); });
    return 0;
  };
}

}  // namespace attnscope
