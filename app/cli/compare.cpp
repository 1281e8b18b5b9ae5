// attnscope compare: numbers that compare models with a reference.
#include <algorithm>
#include <memory>

#include "analysis/figure/figure_command.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/comparison_report.h"
#include "app/cli/identity_argument.h"
#include "app/cli/index_list.h"
#include "app/cli/json_output.h"
#include "app/cli/layer_column.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/input/data_set.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

struct CompareArguments {
  ModelArguments models;
  std::string data_set;
  ItemChoice choice{100};
  std::string align = "index";
  bool match_heads = false, baselines = false;
  std::string identity = "as-is", heads = "all";
  AnalysedArgument analysed;
  double threshold = 0.9;
  bool json = false;
  bool csv = false;
};

ComparisonOptions comparison_options(const CompareArguments& arguments) {
  ComparisonOptions options;
  options.match_heads = arguments.match_heads;
  options.threshold = arguments.threshold;
  options.baselines = arguments.baselines;
  options.analysed = analysed_of(arguments.analysed);
  options.heads = index_list(arguments.heads, "--heads");
  if (arguments.align == "depth") {
    options.layers = LayerAlignment::by_depth;
  } else if (arguments.align != "index") {
    throw unknown_name("way to align layers", arguments.align, "index, depth");
  }
  return options;
}

/// Adds `words` unless they are empty or listed already, as for a model that several subjects
/// share.
void add_assumptions(ComparisonReport& report, std::string words) {
  if (words.empty() || std::ranges::find(report.assumed, words) != report.assumed.end()) return;
  report.assumed.push_back(std::move(words));
}

ComparisonReport on_an_input(const CompareArguments& arguments, const ComparisonOptions& options,
                             const Progress& progress) {
  TraceRequest request;
  request.tokens = true;
  request_analysed(options.analysed, request);
  const std::vector<Subject> subjects =
      make_subjects(arguments.models, request, progress.part(0, 0.5));
  if (subjects.size() < 2) {
    throw Error(ErrorKind::usage, "a comparison needs a reference and another model")
        .expected("two models, or one model and several --input")
        .found("one");
  }
  ComparisonReport report;
  report.options = options;
  report.reference = subjects.front().label;
  report.reference_mechanism = subjects.front().mechanism;
  report.input = subjects.front().trace->input_label;
  const double share = 0.5 / static_cast<double>(subjects.size() - 1);
  for (std::size_t i = 1; i < subjects.size(); ++i) {
    const double first = 0.5 + share * static_cast<double>(i - 1);
    for (const IdentityView view : identity_views(arguments.identity)) {
      ComparisonOptions seen = options;
      seen.view = view;
      const auto mean = compare_subjects(subjects.front(), subjects[i], seen, {},
                                         progress.part(first, first + share));
      ComparisonReport::Compared compared{subjects[i].label, subjects[i].mechanism, view, {}};
      compared.result.mean = mean;
      compared.result.items = 1;
      compared.layers = layers_in_words(*subjects[i].trace);
      report.compared.push_back(std::move(compared));
    }
  }
  for (const Subject& subject : subjects) add_assumptions(report, status_line(subject));
  return report;
}

ComparisonReport over_a_data_set(const CompareArguments& arguments,
                                 const ComparisonOptions& options, const Progress& progress) {
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
  report.options = options;
  report.reference = models.front().label;
  report.reference_mechanism = models.front().mechanism;
  report.data_set = arguments.data_set;
  report.choice = arguments.choice;
  report.data_set_size = data_set->size();
  for (const ComparedModel& compared : models) {
    add_assumptions(report, status_line(*compared.model));
  }
  const std::vector<IdentityView> views = identity_views(arguments.identity);
  const double share = 1.0 / static_cast<double>(views.size());
  for (std::size_t v = 0; v < views.size(); ++v) {
    ComparisonOptions seen = options;
    seen.view = views[v];
    const double first = share * static_cast<double>(v);
    const std::vector<DataSetComparison> results = compare_over_data_set(
        models, *data_set, arguments.choice, seen, progress.part(first, first + share));
    for (std::size_t i = 0; i < results.size(); ++i) {
      report.compared.push_back(
          {models[i + 1].label, models[i + 1].mechanism, views[v], results[i]});
    }
  }
  return report;
}

int run(const CompareArguments& arguments) {
  const ComparisonOptions options = comparison_options(arguments);
  // Meaningless options are refused before any model runs.
  for (const IdentityView view : identity_views(arguments.identity)) {
    ComparisonOptions seen = options;
    seen.view = view;
    check_comparison(seen);
  }
  if (!arguments.data_set.empty() && !arguments.models.inputs.empty()) {
    throw Error(ErrorKind::usage, "models are compared on inputs or over a data set")
        .expected("--input or --dataset")
        .found("both");
  }
  ComparisonReport report = [&] {
    const TerminalProgress line;
    return arguments.data_set.empty() ? on_an_input(arguments, options, line.progress())
                                      : over_a_data_set(arguments, options, line.progress());
  }();
  report.identity = arguments.identity;
  const std::string text = arguments.json  ? comparison_as_json(report)
                           : arguments.csv ? comparison_as_csv(report)
                                           : comparison_as_text(report);
  write_to_standard_output(text);
  for (const std::string& words : report.assumed) {
    if (arguments.csv) std::fprintf(stderr, "%s\n", words.c_str());
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
  added
      ->add_option(
          "--align", arguments->align,
          "Alignment of the layers of models that differ in depth: by index, or by relative depth")
      ->type_name("index|depth")
      ->capture_default_str();
  added->add_flag(
      "--match-heads", arguments->match_heads,
      "Compare each head with the reference's most similar one (one-to-one assignment)");
  add_heads_option(*added, arguments->heads);
  add_identity_option(*added, arguments->identity);
  add_analysed_options(*added, arguments->analysed);
  added
      ->add_option("--threshold", arguments->threshold,
                   "Threshold of the equivalent rank, above 0, at most 1")
      ->type_name("T")
      ->capture_default_str();
  added->add_flag("--baselines", arguments->baselines,
                  "Also report each rank relative to that of null models: maps with shuffled rows");
  CLI::Option* json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each map")->excludes(json);
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope compare softmax.h5 adder.h5 --input boot.png",
                        "attnscope compare vit.pt vit.pt@adder --dataset photos --count 50 --json",
                        "attnscope compare a.pt b.pt --input cat.png --of seen-by-values",
                        "attnscope compare a.pt b.pt@,architecture=b.json --input cat.png"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
