// attnscope components: the rank-one parts whose sum is an attention map.
#include "analysis/components/components.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/matrix/analysed_matrix.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/identity_argument.h"
#include "app/cli/index_list.h"
#include "app/cli/layer_column.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "core/trace/layer_layout.h"

namespace attnscope {

namespace {

constexpr std::size_t kNamed = 3;  ///< number of keys and queries named in the table

struct ComponentsArguments {
  ModelArguments models;
  std::string layers = "0", heads = "all", identity = "as-is";
  AnalysedArgument analysed;
  std::int64_t count = 4;
  bool json = false;
  bool csv = false;
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
          seen[index] = map_components(subject, places[index], analysed, views[v], arguments.count);
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
    check_view(report.analysed, view);
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

std::string text_of(const Subject& subject, const MatrixChoice& analysed,
                    const std::vector<MapComponents>& maps) {
  const Trace& trace = *subject.trace;
  const std::vector<std::string> layers = layers_in_words(trace);
  const int width = layer_width(layers);
  std::string text = shown_text(subject.label) + ": " + to_string(trace.mechanism) + ", " +
                     shown_text(trace.input_label) + "\n" +
                     (analysed.is_plain_map() ? "" : "of: " + in_words(analysed) + "\n") + "\n" +
                     right_cell("layer", width) +
                     "  head      I   k      sigma  of sum  of squares  " +
                     sides_in_words(analysed) + "\n";
  for (const MapComponents& map : maps) {
    const std::string place =
        right_cell(layer_cell(layers, map.layer), width) +
        right_cell(map.head == kAllHeads ? "–" : std::to_string(map.head), 6) +
        right_cell(map.identity ? "with" : "no", 7);
    if (map.components.empty()) text += place + "  " + std::string(describe(map.state)) + "\n";
    for (std::size_t k = 0; k < map.components.size(); ++k) {
      const Component& component = map.components[k];
      text +=
          place + right_cell(std::to_string(k + 1), 4) + number_cell(component.value, 11, 5) +
          number_cell(map.share(k), 8, 3) + number_cell(map.share_of_squares(k), 12, 4) + "  " +
          strongest(component.keys, layout_of(trace, map.layer, columns_of(analysed.of))) + "; " +
          strongest(component.queries, layout_of(trace, map.layer, rows_of(analysed.of))) + "\n";
    }
  }
  return text;
}

/// The singular name of an extent: "key", "query", "token", "channel".
std::string one_of(Extent extent) {
  const std::string_view all = name_of(extent_names, extent);
  return extent == Extent::queries ? "query" : std::string(all.substr(0, all.size() - 1));
}

std::string csv_of(const ComponentsReport& report) {
  const MatrixChoice& analysed = report.analysed;
  const std::string what = analysed_csv(analysed);
  const std::string key = one_of(columns_of(analysed.of)), query = one_of(rows_of(analysed.of));
  std::string text = "model,input,layer,head,identity,component,sigma,share,share_of_squares,of," +
                     std::string(columns_of(analysed.of) == Extent::channels ? "index" : "token") +
                     ",value" + (what.empty() ? "\n" : ",analysed,centred,added\n");
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    const std::string subject = csv_field(report.subjects[i].label) + "," +
                                csv_field(report.subjects[i].trace->input_label) + ",";
    for (const MapComponents& map : report.maps[i]) {
      for (std::size_t k = 0; k < map.components.size(); ++k) {
        const Component& component = map.components[k];
        const double share = map.share(k);
        const std::string row = subject + std::to_string(map.layer) + "," +
                                (map.head == kAllHeads ? "" : std::to_string(map.head)) + "," +
                                (map.identity ? "true" : "false") + "," + std::to_string(k + 1) +
                                "," + exact(component.value) + "," +
                                (std::isnan(share) ? "" : rounded_text(share, 9)) + "," +
                                rounded_text(map.share_of_squares(k), 9) + ",";
        const auto add = [&](const std::string& of, const std::vector<double>& vector) {
          for (std::size_t token = 0; token < vector.size(); ++token) {
            text +=
                row + of + "," + std::to_string(token) + "," + exact(vector[token]) + what + "\n";
          }
        };
        add(key, component.keys);
        add(query, component.queries);
      }
    }
  }
  return text;
}

nlohmann::ordered_json json_of(const MapComponents& map, const MatrixChoice& analysed) {
  using Json = nlohmann::ordered_json;
  const std::string columns(name_of(extent_names, columns_of(analysed.of)));
  const std::string rows(name_of(extent_names, rows_of(analysed.of)));
  Json components = Json::array();
  for (std::size_t k = 0; k < map.components.size(); ++k) {
    const double share = map.share(k);
    components.push_back({{"sigma", map.components[k].value},
                          {"share", std::isnan(share) ? Json(nullptr) : Json(share)},
                          {"share_of_squares", map.share_of_squares(k)},
                          {columns, map.components[k].keys},
                          {rows, map.components[k].queries}});
  }
  return {{"layer", map.layer},
          {"head", map.head == kAllHeads ? Json(nullptr) : Json(map.head)},
          {"identity", map.identity},
          {"state", describe(map.state)},
          {"components", std::move(components)}};
}

void print(const ComponentsReport& report, const ComponentsArguments& arguments) {
  if (arguments.csv) {
    write_to_standard_output(csv_of(report));
    return print_status(stderr, report.subjects);
  }
  if (arguments.json) {
    nlohmann::ordered_json subjects = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < report.subjects.size(); ++i) {
      const Trace& trace = *report.subjects[i].trace;
      nlohmann::ordered_json maps = nlohmann::ordered_json::array();
      for (const MapComponents& map : report.maps[i]) maps.push_back(json_of(map, report.analysed));
      subjects.push_back({{"label", report.subjects[i].label},
                          {"status", status_as_json(status_of(report.subjects[i]))},
                          {"mechanism", to_string(trace.mechanism)},
                          {"input", trace.input_label},
                          {"maps", std::move(maps)}});
    }
    const MatrixChoice& analysed = report.analysed;
    nlohmann::ordered_json json;
    add_analysed(json, analysed);
    json["rows"] = name_of(extent_names, rows_of(analysed.of));
    json["columns"] = name_of(extent_names, columns_of(analysed.of));
    json["subjects"] = std::move(subjects);
    return print_json(json);
  }
  std::string text;
  for (std::size_t i = 0; i < report.subjects.size(); ++i) {
    text += (i > 0 ? "\n" : "") + text_of(report.subjects[i], report.analysed, report.maps[i]);
  }
  write_to_standard_output(text);
  print_status(stdout, report.subjects);
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
  added->add_option("--components", arguments->count, "Number of leading components per map")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each entry of each vector")
      ->excludes(json);
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
    print(report, *arguments);
    return 0;
  };
}

}  // namespace attnscope
