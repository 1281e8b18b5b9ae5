// attnscope compare: numbers that compare models with a reference.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/baselines/equal_entropy.h"
#include "analysis/comparison/data_set_comparison.h"
#include "analysis/figure/figure_command.h"
#include "analysis/matrix/analysed_matrix.h"
#include "analysis/report/report.h"
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
#include "core/error.h"
#include "core/input/data_set.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

// Output of `attnscope compare`: tables for people, JSON and CSV for programs.

/// Models compared with a reference, on one input or over a data set.
struct ComparisonReport {
  struct Compared {
    std::string label;
    MechanismChoice mechanism;
    DataSetComparison result;              ///< on a single input, the predictions have no items
    std::vector<std::string> layers = {};  ///< layer names (layers_in_words); empty over a data set

    /// Name of the identity view of both maps.
    [[nodiscard]] std::string identity() const {
      return std::string(name_of(identity_view_names, result.mean.options.analysed.identity));
    }
  };
  std::string reference;
  MechanismChoice reference_mechanism;
  std::string input;     ///< label of the input; empty over a data set
  std::string data_set;  ///< path of the data set; empty on a single input
  ItemChoice choice;     ///< the chosen items of the data set
  std::int64_t data_set_size = 0;
  ComparisonOptions options;         ///< common options; the view differs for each of `compared`
  std::string identity = "as-is";    ///< value of --identity; "both" lists each model twice
  std::vector<std::string> assumed;  ///< one line per model whose file leaves something unspecified
  std::vector<Compared> compared;
};

using nlohmann::ordered_json;
using Quantity = ComparisonQuantity;

const char* alignment_name(LayerAlignment alignment) {
  return alignment == LayerAlignment::by_index ? "index" : "depth";
}

ordered_json json_number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

bool is_of_others(const ComparisonReport& report) {
  return !report.options.analysed.is_plain_map();
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

ordered_json layer_json(const ComparedLayer& layer) {
  ordered_json object = {{"layer", layer.layer}, {"reference_layer", nullptr}};
  if (layer.reference_layer >= 0) object["reference_layer"] = layer.reference_layer;
  object.update(comparison_values_json(layer.values));
  if (!layer.why_no_cka.empty()) object["why_no_cka"] = layer.why_no_cka;
  return object;
}

/// One row per model and identity view.
Report compared_report(const ComparisonReport& report) {
  using Compared = ComparisonReport::Compared;
  const bool over_data_set = !report.data_set.empty();
  std::vector<ColumnOf<Compared>> columns = {
      {csv_only("subject"), [](const auto& one) { return one.label; }},
      {csv_only("reference"), [&report](const auto&) { return report.reference; }},
      {json_only("label"), [](const auto& one) { return one.label; }},
      {json_only("mechanism"), [](const auto& one) { return to_string(one.mechanism); }},
      {json_only("identity"), &Compared::identity},
      {json_only("maps_compared"), [](const auto& one) { return one.result.mean.maps_compared; }},
      {json_only("left_out"), [](const auto& one) { return one.result.mean.summary; }},
      {json_only("mean"),
       [](const auto& one) { return json_cell(comparison_values_json(one.result.mean.mean)); }},
      {json_only("layers"),
       [](const auto& one) {
         ordered_json layers = ordered_json::array();
         for (const ComparedLayer& layer : one.result.mean.layers) {
           layers.push_back(layer_json(layer));
         }
         return json_cell(layers);
       }},
      {{.name = "maps"},
       [over_data_set](const auto& one) {
         return table_cell(compared_maps_report(one.result, over_data_set));
       }},
      {csv_only("identity"), &Compared::identity}};
  add_analysed(columns, report.options.analysed);
  if (over_data_set) {
    append(columns,
           {{json_only("items"), [](const auto& one) { return std::int64_t{one.result.items}; }},
            {json_only("predictions"), [](const auto& one) {
               return json_cell(json_of(one.result.predictions, one.result.why_no_predictions));
             }}});
  }
  return report_on(report.compared, std::move(columns));
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
                                 TextColumn{Quantity::rank_at_entropy, "same H", 6, 1},
                                 TextColumn{Quantity::reference_rank_at_entropy, "ref./H", 6, 1},
                                 TextColumn{Quantity::equal_entropy, "H/ln n", 6, 3},
                                 TextColumn{Quantity::equal_entropy_temperature, "T", 7, 3},
                                 TextColumn{Quantity::cka, "CKA", 6, 3}};

/// The columns that the options select.
std::vector<TextColumn> shown_columns(const ComparisonOptions& options) {
  std::vector<TextColumn> columns(kColumns.begin(), kColumns.end());
  std::erase_if(columns, [&](const TextColumn& column) {
    const bool of_null = column.quantity == Quantity::rank_over_null ||
                         column.quantity == Quantity::reference_rank_over_null;
    const bool at_entropy = column.quantity >= Quantity::rank_at_entropy;
    return (!options.baselines && of_null) || (!options.at_entropy && at_entropy);
  });
  return columns;
}

std::string place_text(std::int64_t layer, std::int64_t head) {
  return layer < 0 ? "–" : std::to_string(layer) + (head < 0 ? "" : "." + std::to_string(head));
}

/// A row of the text: a map, or the mean of a layer or of all.
struct ComparedRow {
  std::int64_t layer = -1;
  std::string head, beside;
  ComparisonValues values;
  bool is_mean = false;
  std::string note = {};
};

std::string map_table(const SubjectComparison& result, const std::vector<std::string>& layers,
                      const ComparisonOptions& options) {
  const auto state_of = [](const ComparedMap& map) {
    return std::string(map.state == MapPairState::compared ? "" : describe(map.state));
  };
  std::vector<ComparedRow> rows;
  for (const ComparedLayer& layer : result.layers) {
    std::string state;  // state of the layer's single matrix
    for (const ComparedMap& map : result.maps) {
      if (map.layer != layer.layer) continue;
      if (map.head == kAllHeads) {
        state = state_of(map);
      } else {
        rows.push_back({map.layer, std::to_string(map.head),
                        place_text(map.reference_layer, map.reference_head), map.values, false,
                        state_of(map)});
      }
    }
    rows.push_back({layer.layer, is_of_layer(options.analysed.of) ? "–" : "mean",
                    place_text(layer.reference_layer, -1), layer.values, true, state});
  }
  rows.push_back({-1, "mean", "", result.mean, true});
  std::vector<ColumnOf<ComparedRow>> columns = {
      layer_column<ComparedRow>(layers, &ComparedRow::layer),
      {{.title = "head", .width = 6}, &ComparedRow::head},
      {{.title = "beside", .width = 8}, &ComparedRow::beside}};
  for (const TextColumn& column : shown_columns(options)) {
    columns.push_back({{.title = column.title, .width = column.width + 2},
                       nullptr,
                       [column](const ComparedRow& row) {
                         const bool shown = row.is_mean || column.quantity != Quantity::cka;
                         return shown ? number_cell(row.values[column.quantity], 0, column.digits)
                                      : std::string();
                       }});
  }
  columns.push_back({{.left = true}, &ComparedRow::note});
  return report_as_text(report_of(std::move(rows), std::move(columns)));
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

/// {"reference", …, "compared": [{"label", "mean", "layers", "maps", "predictions"}]}.
ordered_json comparison_as_json(const ComparisonReport& report) {
  const bool over_data_set = !report.data_set.empty();
  ordered_json json = {
      {"reference", report.reference},
      {"reference_mechanism", to_string(report.reference_mechanism)},
      {over_data_set ? "data_set" : "input", over_data_set ? report.data_set : report.input},
      {"layers", alignment_name(report.options.layers)},
      {"heads", report.options.match_heads ? "matched" : "index"},
      {"identity", report.identity}};
  add_analysed(json, report.options.analysed);
  add_threshold(json, report.options.threshold);
  if (const auto& target = report.options.at_entropy) {
    json["at_entropy"] =
        *target == reference_entropy ? ordered_json("reference") : ordered_json(*target);
  }
  json["compared"] = report_as_json(compared_report(report));
  json["assumed"] = report.assumed;
  if (over_data_set) {
    json["data_set_size"] = report.data_set_size;
    json["seed"] = report.choice.seed;
  }
  return json;
}

/// For each model, one row per map, the layers' means, then the predictions.
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
      to_string(report.options.threshold) +
      (is_of_others(report) ? "\nof: " + in_words(report.options.analysed) : "") +
      "\nJS: Jensen-Shannon divergence of rows in bits (rows over the sum of their magnitudes); "
      "1-cos: cosine distance; |A-B|: Frobenius distance; differences are compared - reference\n" +
      std::string(report.options.baselines
                      ? "/null: rank over that of the map with its rows shuffled, mean of 8\n"
                      : "") +
      (report.options.at_entropy
           ? "same H: rank at the temperature T at which the mean row entropy H / ln n, n the keys "
             "that a query sees, is " +
                 (*report.options.at_entropy == reference_entropy
                      ? std::string("the reference's")
                      : rounded_text(*report.options.at_entropy)) +
                 "; ref./H: the reference's rank there\n"
           : "");
  for (const auto& compared : report.compared) {
    text += "\n" + compared.label + ", " + to_string(compared.mechanism);
    if (report.identity == "both") text += ", maps " + compared.identity() + " I";
    text += "\n";
    text += map_table(compared.result.mean, compared.layers, report.options);
    if (!compared.result.mean.summary.empty()) {
      text += "left out: " + compared.result.mean.summary + "\n";
    }
    if (over_data_set) text += predictions_text(compared, report.reference);
  }
  for (const std::string& words : report.assumed) text += "\n" + words + "\n";
  return text;
}

struct CompareArguments {
  ModelArguments models;
  std::string data_set;
  ItemChoice choice{100};
  std::string align = "index";
  bool match_heads = false, baselines = false;
  std::string identity = "as-is", heads = "all", at_entropy;
  AnalysedArgument analysed;
  RankThreshold threshold;
  TableFormat format = TableFormat::text;
};

/// The value of --at-entropy: a share, or the reference's entropy. Throws Error(usage).
double entropy_target(const std::string& text) {
  if (text == "reference") return reference_entropy;
  const std::optional<double> share = parse_number(text);
  if (!share) {
    throw Error(ErrorKind::usage, "the entropy of a row is the reference's, or a share of ln n")
        .about("--at-entropy")
        .expected("reference, or a number above 0, below 1")
        .found(text);
  }
  check_equal_entropy(*share, {});
  return *share;
}

/// One set of options per identity view. Meaningless ones are refused before any model runs.
std::vector<ComparisonOptions> comparison_options(const CompareArguments& arguments) {
  ComparisonOptions options;
  options.match_heads = arguments.match_heads;
  options.threshold = arguments.threshold;
  options.baselines = arguments.baselines;
  if (!arguments.at_entropy.empty()) options.at_entropy = entropy_target(arguments.at_entropy);
  options.analysed = analysed_of(arguments.analysed);
  options.heads = index_list(arguments.heads, "--heads");
  if (arguments.align == "depth") {
    options.layers = LayerAlignment::by_depth;
  } else if (arguments.align != "index") {
    throw unknown_name("way to align layers", arguments.align, "index, depth");
  }
  std::vector<ComparisonOptions> views;
  for (const IdentityView view : identity_views(arguments.identity)) {
    options.analysed.identity = view;
    check_comparison(views.emplace_back(options));
  }
  return views;
}

/// Adds `words` unless they are empty or listed already, as for a model that several subjects
/// share.
void add_assumptions(ComparisonReport& report, std::string words) {
  if (words.empty() || std::ranges::find(report.assumed, words) != report.assumed.end()) return;
  report.assumed.push_back(std::move(words));
}

ComparisonReport on_an_input(const CompareArguments& arguments,
                             const std::vector<ComparisonOptions>& views,
                             const Progress& progress) {
  TraceRequest request;
  request.tokens = true;
  request_analysed(views.front().analysed, request);
  const std::vector<Subject> subjects =
      make_subjects(arguments.models, request, progress.part(0, 0.5));
  if (subjects.size() < 2) {
    throw Error(ErrorKind::usage, "a comparison needs a reference and another model")
        .expected("two models, or one model and several --input")
        .found("one");
  }
  ComparisonReport report;
  report.options = views.front();
  report.reference = subjects.front().label;
  report.reference_mechanism = subjects.front().mechanism;
  report.input = subjects.front().trace->input_label;
  const double share = 0.5 / static_cast<double>(subjects.size() - 1);
  for (std::size_t i = 1; i < subjects.size(); ++i) {
    const double first = 0.5 + share * static_cast<double>(i - 1);
    for (const ComparisonOptions& options : views) {
      ComparisonReport::Compared compared{subjects[i].label, subjects[i].mechanism, {}};
      compared.result.mean = compare_subjects(subjects.front(), subjects[i], options, {},
                                              progress.part(first, first + share));
      compared.result.items = 1;
      compared.layers = layers_in_words(*subjects[i].trace);
      report.compared.push_back(std::move(compared));
    }
  }
  for (const Subject& subject : subjects) add_assumptions(report, status_line(subject));
  return report;
}

ComparisonReport over_a_data_set(const CompareArguments& arguments,
                                 const std::vector<ComparisonOptions>& views,
                                 const Progress& progress) {
  const auto data_set = open_data_set(arguments.data_set);
  std::vector<ComparedModel> models;
  for (const std::string& text : arguments.models.models) {
    const ModelArgument argument = split_without_input(text);
    if (is_trace_file(argument.file)) {
      throw Error(ErrorKind::usage, "a trace holds one run; it cannot be run on a data set")
          .in_file(argument.file)
          .remedy("give the model's weight file, or leave out --dataset");
    }
    auto model = load_model(argument.file, options_of(arguments.models, argument));
    const MechanismChoice mechanism =
        choose_mechanism(arguments.models, argument, model->spec().mechanism);
    std::string label = subject_name(*model, mechanism);
    models.push_back({std::move(label), std::move(model), mechanism});
  }
  ComparisonReport report;
  report.options = views.front();
  report.reference = models.front().label;
  report.reference_mechanism = models.front().mechanism;
  report.data_set = arguments.data_set;
  report.choice = arguments.choice;
  report.data_set_size = data_set->size();
  for (const ComparedModel& compared : models) {
    add_assumptions(report, status_line(*compared.model));
  }
  const double share = 1.0 / static_cast<double>(views.size());
  for (std::size_t v = 0; v < views.size(); ++v) {
    const double first = share * static_cast<double>(v);
    const std::vector<DataSetComparison> results = compare_over_data_set(
        models, *data_set, arguments.choice, views[v], progress.part(first, first + share));
    for (std::size_t i = 0; i < results.size(); ++i) {
      report.compared.push_back({models[i + 1].label, models[i + 1].mechanism, results[i]});
    }
  }
  return report;
}

int run(const CompareArguments& arguments) {
  const std::vector<ComparisonOptions> views = comparison_options(arguments);
  if (!arguments.data_set.empty() && !arguments.models.inputs.empty()) {
    throw Error(ErrorKind::usage, "models are compared on inputs or over a data set")
        .expected("--input or --dataset")
        .found("both");
  }
  ComparisonReport report = [&] {
    const TerminalProgress line;
    return arguments.data_set.empty() ? on_an_input(arguments, views, line.progress())
                                      : over_a_data_set(arguments, views, line.progress());
  }();
  report.identity = arguments.identity;
  if (arguments.format == TableFormat::json) {
    print_json(comparison_as_json(report));
  } else if (arguments.format == TableFormat::text) {
    write_to_standard_output(comparison_as_text(report));
  } else {
    print_report(compared_report(report), arguments.format);
    for (const std::string& words : report.assumed) std::fprintf(stderr, "%s\n", words.c_str());
  }
  return 0;
}

}  // namespace

Action add_compare(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<CompareArguments>();
  added = parent.add_subcommand("compare", "Compare models' maps and predictions");
  add_model_argument(*added, arguments->models, true, true,
                     "The first is the reference that the others are compared with");
  add_input_option(*added, arguments->models);
  add_data_set_option(*added, arguments->data_set,
                      "Data set for mean distances and the agreement of predictions");
  add_choice_options(*added, arguments->choice, "Number of items of the data set (100; 0: all)");
  add_value_option(
      *added, "--align", arguments->align,
      "Alignment of the layers of models that differ in depth: by index, or by relative depth",
      "index|depth");
  added->add_flag(
      "--match-heads", arguments->match_heads,
      "Compare each head with the reference's most similar one (one-to-one assignment)");
  add_heads_option(*added, arguments->heads);
  add_identity_option(*added, arguments->identity);
  add_analysed_options(*added, arguments->analysed);
  add_threshold_options(*added, arguments->threshold);
  added->add_flag("--baselines", arguments->baselines,
                  "Also report each rank relative to that of null models: maps with shuffled rows");
  added
      ->add_option("--at-entropy", arguments->at_entropy,
                   "Also report each rank at the same mean row entropy, set by temperature: the "
                   "reference's, or a share of ln n, above 0, below 1")
      ->type_name("reference|H");
  add_format_options(*added, arguments->format, "a row for each map");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope compare softmax.h5 adder.h5 --input boot.png",
                        "attnscope compare softmax.h5 adder.h5 --input boot.png --at-entropy 0.8",
                        "attnscope compare vit.pt vit.pt@adder --dataset photos --count 50 --json",
                        "attnscope compare a.pt b.pt --input cat.png --of seen-by-values",
                        "attnscope compare a.pt b.pt@,architecture=b.json --input cat.png"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
