// attnscope components: the rank-one parts whose sum is an attention map.
#include "analysis/components/components.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/matrix/analysed_matrix.h"
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

constexpr std::size_t kNamed = 3;  ///< number of keys and queries named in the table

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

/// The tokens of greatest magnitude: "3 (to), 17 (be), −4 (not)", with a minus before negative
/// entries.
std::string strongest(const std::vector<double>& vector, const TokenLayout& layout) {
  std::vector<std::size_t> order(vector.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t named = std::min(kNamed, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(named), order.end(),
      [&](std::size_t a, std::size_t b) { return std::abs(vector[a]) > std::abs(vector[b]); });
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    const std::string index = std::to_string(order[i]);
    const std::string name = layout.name(static_cast<std::int64_t>(order[i]));
    text += (i > 0 ? ", " : "") + std::string(vector[order[i]] < 0 ? "−" : "") +
            (name.empty() || name == index ? index : shown_text(name));
  }
  return text;
}

/// The token layout along one side of the matrix; an empty layout for channels.
const TokenLayout& layout_of(const Trace& trace, std::int64_t layer, Extent extent) {
  static const TokenLayout nowhere;
  if (extent == Extent::channels) return nowhere;
  return extent == Extent::keys ? key_layout(trace, layer) : query_layout(trace, layer);
}

/// "keys read; queries using" for attention maps; names of columns and rows for other matrices.
std::string sides_in_words(const MatrixChoice& analysed) {
  const Extent columns = columns_of(analysed.of), rows = rows_of(analysed.of);
  return (columns == Extent::keys ? "keys read" : std::string(name_of(extent_names, columns))) +
         "; " +
         (rows == Extent::queries ? "queries using" : std::string(name_of(extent_names, rows)));
}

/// The singular name of an extent: "key", "query", "token", "channel".
std::string one_of(Extent extent) {
  const std::string_view all = name_of(extent_names, extent);
  return extent == Extent::queries ? "query" : std::string(all.substr(0, all.size() - 1));
}

/// The entries of both vectors of a component, those of the columns first.
Report entries_report(const Component& component, const MatrixChoice& analysed) {
  const std::vector<double>&keys = component.keys, &queries = component.queries;
  const Extent columns = columns_of(analysed.of);
  const std::string key = one_of(columns), query = one_of(rows_of(analysed.of));
  const auto index = [&keys](std::size_t row) {
    return row < keys.size() ? row : row - keys.size();
  };
  return {{{.name = "of",
            .value = [=, &keys](std::size_t row) { return row < keys.size() ? key : query; }},
           {.name = columns == Extent::channels ? "index" : "token",
            .value = [=](std::size_t row) { return static_cast<std::int64_t>(index(row)); }},
           {.name = "value",
            .digits = 0,
            .value =
                [=, &keys, &queries](std::size_t row) {
                  return (row < keys.size() ? keys : queries)[index(row)];
                }}},
          keys.size() + queries.size()};
}

/// One row per component of a map.
Report components_of_map(const Trace& trace, const MatrixChoice& analysed,
                         const MapComponents& map) {
  const Extent columns = columns_of(analysed.of), rows = rows_of(analysed.of);
  std::vector<std::size_t> indices(map.components.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  const auto of = [&map](auto member) {
    return [&map, member](std::size_t k) { return std::invoke(member, map.components[k]); };
  };
  const auto vector = [&map](std::vector<double> Component::*member) {
    return [&map, member](std::size_t k) { return json_cell(map.components[k].*member); };
  };
  return report_of<std::size_t>(
      std::move(indices),
      {{{.name = "component", .title = "k", .width = 4, .json = false},
        [](std::size_t k) { return static_cast<std::int64_t>(k) + 1; }},
       {{.name = "sigma", .title = "sigma", .width = 11, .decimals = 5, .digits = 0},
        of(&Component::value)},
       {{.name = "share", .title = "of sum", .width = 8, .decimals = 3},
        [&map](std::size_t k) { return map.share(k); }},
       {{.name = "share_of_squares", .title = "of squares", .width = 12, .decimals = 4},
        [&map](std::size_t k) { return map.share_of_squares(k); }},
       {{.name = "entries",
         .json = false,
         .table = std::make_shared<const Report>(entries_report({}, analysed))},
        of([&](const Component& one) { return table_cell(entries_report(one, analysed)); })},
       {json_only(std::string(name_of(extent_names, columns))), vector(&Component::keys)},
       {json_only(std::string(name_of(extent_names, rows))), vector(&Component::queries)},
       {{.title = sides_in_words(analysed), .left = true},
        nullptr,
        of([&trace, &map, columns, rows](const Component& one) {
          return strongest(one.keys, layout_of(trace, map.layer, columns)) + "; " +
                 strongest(one.queries, layout_of(trace, map.layer, rows));
        })}});
}

/// One row per map.
Report components_table(const Trace& trace, const MatrixChoice& analysed,
                        const std::vector<MapComponents>& maps) {
  using Map = MapComponents;
  return report_on(
      maps, {layer_column<Map>(layers_in_words(trace), &Map::layer),
             {{.name = "head", .title = "head", .width = 6},
              [](const Map& map) { return known_if(map.head != kAllHeads, map.head); }},
             {{.name = "identity", .title = "I", .width = 7},
              &Map::identity,
              [](const Map& map) { return map.identity ? "with" : "no"; }},
             {json_only("state"), [](const Map& map) { return std::string(describe(map.state)); }},
             {{.name = "components"},
              [&](const Map& map) { return table_cell(components_of_map(trace, analysed, map)); }},
             {{.left = true}, nullptr, [](const Map& map) {
                return std::string(map.components.empty() ? describe(map.state) : "");
              }}});
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
             return table_cell(components_table(*one.subject->trace, report.analysed, *one.maps));
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
            "\n" + report_as_text(components_table(trace, report.analysed, report.maps[i]));
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
