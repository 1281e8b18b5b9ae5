// attnscope spectrum: singular values and ranks of a model's attention maps.
#include "analysis/spectrum/spectrum.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/matrix/stacked_matrices.h"
#include "analysis/tables/shared_columns.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/spectrum_output.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/model.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

/// The requested inputs, opened one at a time, because a data set's traces need not fit in memory.
class InputList {
 public:
  /// `data_set`: path of a data set; empty: none.
  InputList(std::vector<std::string> locators, const std::string& data_set,
            const ItemChoice& choice)
      : locators_(std::move(locators)) {
    if (data_set.empty()) return;
    data_set_ = open_data_set(data_set);
    items_ = chosen_items(data_set_->size(), choice);
    words_ = choice_in_words(data_set_->size(), choice, "items") + " of " + data_set;
  }

  [[nodiscard]] std::int64_t size() const { return std::ssize(locators_) + std::ssize(items_); }
  [[nodiscard]] Input open(std::int64_t index) const {
    const auto given = static_cast<std::int64_t>(locators_.size());
    return index < given ? open_input_argument(locators_[static_cast<std::size_t>(index)])
                         : data_set_->item(items_[static_cast<std::size_t>(index - given)]);
  }

  /// The chosen items of the data set: "16 of 10000 items, …"; empty without a data set.
  [[nodiscard]] const std::string& words() const { return words_; }

 private:
  std::vector<std::string> locators_;
  std::shared_ptr<const DataSet> data_set_;
  std::vector<std::int64_t> items_;  ///< indices in the data set
  std::string words_;
};

/// Limit in bytes of the maps in memory at a time; maps of long texts are processed in parts and
/// released.
constexpr std::int64_t kMapBytesAtOnce = std::int64_t{256} << 20;

struct Arguments {
  ModelArguments model;
  std::string data_set;
  ItemChoice choice{16};
  std::string identity = "as-is", layers = "all", heads = "all";
  bool proposition = false, baselines = false, stacked = false;
  std::optional<double> at_entropy = {};
  AnalysedArgument analysed;
  RankThreshold threshold;
  std::string method = "automatic";
  std::int64_t dense_limit = SpectrumOptions{}.dense_limit;
  TableFormat format = TableFormat::text;
};

// Every singular value must be accurate, because tables and files show values, not only shares.
SpectrumOptions options_from(const Arguments& arguments) {
  return {.threshold = arguments.threshold,
          .accuracy = SpectrumAccuracy::every_value,
          .layers = index_list(arguments.layers, "--layers"),
          .method = spectrum_method(arguments.method),
          .dense_limit = arguments.dense_limit};
}

/// Adds the spectra of `layers`, all layers if empty, or their rows to `stacked` if it is not null.
void add_layers(SpectrumReport& report, const Arguments& arguments, const Subject& subject,
                const std::vector<std::int64_t>& layers, StackedMatrices* stacked,
                const Progress& progress) {
  const Trace& trace = *subject.trace;
  SpectrumOptions options = options_from(arguments);
  // The run may have recorded more layers than were requested.
  std::vector<std::int64_t> wanted = layers;
  if (!options.layers.empty()) {
    std::erase_if(
        wanted, [&](std::int64_t layer) { return std::ranges::count(options.layers, layer) == 0; });
    if (!layers.empty() && wanted.empty()) return;
  }
  if (!layers.empty()) options.layers = wanted;
  if (stacked != nullptr) return stacked->add(subject, options.layers);
  std::vector<MapSpectrum>& maps = report.maps.back();
  if (arguments.baselines) {
    std::ranges::move(baselines_of(trace, report.analysed, options, progress.part(0.15, 1)),
                      std::back_inserter(report.baselines.back()));
  }
  if (report.at_entropy) {
    std::ranges::move(
        ranks_at_entropy(trace, *report.at_entropy, report.analysed, options, progress.silent()),
        std::back_inserter(report.entropy_ranks.back()));
  }
  if (!arguments.proposition) {
    const Progress own = arguments.baselines ? progress.silent() : progress;
    std::ranges::move(spectra_of(subject, report.analysed, options, own), std::back_inserter(maps));
    return;
  }
  for (IdentityEffect& effect : identity_effects(trace, options, progress)) {
    const bool with = has_identity(trace, effect.without.layer, report.analysed.identity);
    maps.push_back(with ? effect.with : effect.without);
    report.effects.back().push_back(std::move(effect));
  }
}

void begin_input(SpectrumReport& report, const Arguments& arguments) {
  if (report.stacked && !report.maps.empty()) return;
  report.maps.emplace_back();
  if (arguments.proposition) report.effects.emplace_back();
  if (arguments.baselines) report.baselines.emplace_back();
  if (arguments.at_entropy) report.entropy_ranks.emplace_back();
}

void finish_input(SpectrumReport& report, const Arguments& arguments, const Trace& trace) {
  report.model = trace.model_name;
  add_run(report, trace);
  if (report.stacked) return;  // its spectra follow the last input
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  keep_heads(report.maps.back(), heads, &MapSpectrum::head);
  if (arguments.proposition) {
    keep_heads(report.effects.back(), heads,
               [](const IdentityEffect& effect) { return effect.without.head; });
  }
  if (arguments.baselines) {
    keep_heads(report.baselines.back(), heads,
               [](const MapBaselines& baselines) { return baselines.null.head; });
  }
  if (arguments.at_entropy) keep_heads(report.entropy_ranks.back(), heads, &EntropyRank::head);
}

MatrixChoice analysed_by(const Arguments& arguments) {
  const MatrixChoice analysed = analysed_of(arguments.analysed);
  check_added(analysed);
  const auto refuse = [&](const char* option, const char* why) {
    throw Error(ErrorKind::usage, why).about(option).found(in_words(analysed));
  };
  if (arguments.proposition && !analysed.is_plain_map()) {
    refuse("--proposition", "the proposition only applies to unchanged maps");
  }
  if (arguments.model.channel == "all" && !analysed.is_plain_map()) {
    refuse("--channel", "all channels can only be analysed for unchanged maps");
  }
  if (arguments.baselines) check_null_models(analysed);
  if (arguments.at_entropy) check_equal_entropy(*arguments.at_entropy, analysed);
  if (arguments.stacked && arguments.method != "automatic" && arguments.method != "dense") {
    refuse("--method", "spectra of stacked rows are computed from their Gram matrix");
  }
  if (arguments.heads != "all" && is_of_layer(analysed.of)) {
    refuse("--heads", "the analysed matrix is defined per layer, not per head");
  }
  return analysed;
}

/// One report per identity view, all from the same runs.
std::vector<SpectrumReport> make_reports(const Arguments& arguments,
                                         const std::vector<IdentityView>& views,
                                         const Progress& progress) {
  const MatrixChoice analysed = analysed_by(arguments);
  std::vector<SpectrumReport> reports(views.size());
  std::vector<StackedMatrices> stacked;  // one for each view, if they are requested
  const auto stack_of = [&](const SpectrumReport& report) {
    return stacked.empty() ? nullptr : &stacked[static_cast<std::size_t>(&report - reports.data())];
  };
  const auto for_each_view = [&](const Progress& whole, const auto& add) {
    const double share = 1.0 / static_cast<double>(views.size());
    for (std::size_t v = 0; v < views.size(); ++v) {
      const double first = share * static_cast<double>(v);
      add(reports[v], whole.part(first, first + share));
    }
  };
  const ModelArgument argument = split_without_input(arguments.model.models.front());
  const InputList inputs(arguments.model.inputs, arguments.data_set, arguments.choice);
  for (std::size_t v = 0; v < views.size(); ++v) {
    reports[v].threshold = arguments.threshold;
    reports[v].chosen = inputs.words();
    reports[v].at_entropy = arguments.at_entropy;
    reports[v].analysed = analysed.seen(views[v]);
    reports[v].stacked = arguments.stacked;
    if (arguments.stacked) stacked.emplace_back(reports[v].analysed);
  }
  const auto finish = [&] {
    for (SpectrumReport& report : reports) {
      if (const StackedMatrices* const stack = stack_of(report)) {
        report.maps.front() = stack->spectra(report.threshold);
        keep_heads(report.maps.front(), index_list(arguments.heads, "--heads"), &MapSpectrum::head);
      }
    }
  };
  if (is_trace_file(argument.file)) {
    if (arguments.model.channel != "mean") {
      throw Error(ErrorKind::usage, "a trace holds the maps of one channel, or their mean")
          .in_file(argument.file)
          .about("--channel")
          .remedy("give the model's weight file and an input");
    }
    if (inputs.size() > 0 || !argument.mechanism.empty() || !argument.settings.empty() ||
        !arguments.model.mechanism.empty()) {
      throw Error(ErrorKind::usage, "a trace holds what was run; it cannot be run again")
          .in_file(argument.file)
          .remedy("give the model's weight file, or leave out --input, --dataset and --mechanism");
    }
    const Trace trace = read_trace(argument.file);
    for (SpectrumReport& report : reports) {
      report.status = recorded_status(trace.provenance);
      report.assumed = status_line(trace);
    }
    for_each_view(progress, [&](SpectrumReport& report, const Progress& own) {
      begin_input(report, arguments);
      add_layers(report, arguments, without_model(trace), {}, stack_of(report), own);
      finish_input(report, arguments, trace);
    });
    finish();
    return reports;
  }
  const auto model =
      load_model(argument.file, options_of(arguments.model, argument), progress.part(0, 0.05));
  if (inputs.size() == 0) {
    throw Error(ErrorKind::usage, "a model needs an input to run on")
        .about("--input")
        .expected("an image, a .npy array, DATASET#INDEX, a text, -, or --dataset");
  }
  for (SpectrumReport& report : reports) {
    report.status = model->status();
    report.assumed = status_line(*model);
  }
  const MechanismArgument laid =
      mechanism_argument(arguments.model, argument, model->spec().mechanism);
  TraceRequest request;
  request.layers = index_list(arguments.layers, "--layers");
  // For long inputs the factors fit in memory, but the maps do not.
  request.implied_maps = spectrum_method(arguments.method) != SpectrumMethod::factored;
  request.factors = true;
  request.large_maps = TraceRequest::LargeMaps::computed;
  request_for(analysed, request);
  // Matrices that depend on the previous layer need every layer recorded (empty list: all layers).
  if (needs_layer_before(analysed)) request.layers.clear();
  request.parameters = laid.parameters;
  const std::string& channel =
      argument.channel.empty() ? arguments.model.channel : argument.channel;
  const bool all_channels = channel == "all";
  if (!all_channels) request.channel = parse_channel(channel);
  if (all_channels && (arguments.proposition || arguments.baselines || arguments.at_entropy)) {
    throw Error(ErrorKind::usage,
                "--proposition, --baselines and --at-entropy need the maps of one channel, or "
                "their mean")
        .about("--channel");
  }
  const double share = 0.95 / static_cast<double>(inputs.size());
  for (std::int64_t i = 0; i < inputs.size(); ++i) {
    const double first = 0.05 + share * static_cast<double>(i);
    const Progress of_input = progress.part(first, first + share);
    const auto input = std::make_shared<const Input>(inputs.open(i));
    for (SpectrumReport& report : reports) begin_input(report, arguments);
    std::shared_ptr<const Trace> trace;
    if (all_channels) {
      trace = std::make_shared<const Trace>(
          model->run(*input, laid.choice, request, of_input.part(0, 0.05)));
      const Subject subject{model->name(), model, laid.choice, input, trace, laid.parameters};
      for_each_view(of_input.part(0.05, 1), [&](SpectrumReport& report, const Progress& own) {
        report.maps.back() =
            spectra_of_channels(subject, report.analysed.identity, options_from(arguments), own);
      });
    } else {
      trace = std::make_shared<const Trace>(run_by_layers(
          *model, *input, laid.choice, request, kMapBytesAtOnce,
          [&](const Trace& run, const std::vector<std::int64_t>& layers, const Progress& own) {
            for_each_view(own, [&](SpectrumReport& report, const Progress& part) {
              Subject subject = without_model(run);
              subject.model = model;
              add_layers(report, arguments, subject, layers, stack_of(report), part);
            });
          },
          of_input));
    }
    for (SpectrumReport& report : reports) {
      finish_input(report, arguments, *trace);
      if (all_channels && trace->map_channels > 1) {
        report.channels = "each of " + std::to_string(trace->map_channels) + " channels";
      }
    }
  }
  finish();
  return reports;
}

void print(const std::vector<SpectrumReport>& reports, const Arguments& arguments) {
  const std::string& assumed = reports.front().assumed;
  if (arguments.format == TableFormat::json) {
    if (reports.size() == 1) {
      return write_to_standard_output(spectrum_as_json(reports.front()) + "\n");
    }
    std::printf("{\"without\":%s,\"with\":%s}\n", spectrum_as_json(reports.front()).c_str(),
                spectrum_as_json(reports.back()).c_str());
  } else if (arguments.format != TableFormat::text) {
    print_report(maps_report(reports), arguments.format);
    if (!assumed.empty()) std::fprintf(stderr, "%s\n", assumed.c_str());
  } else {
    for (const SpectrumReport& report : reports) {
      if (&report != &reports.front()) std::printf("\n");
      print_table(report);
    }
    if (!assumed.empty()) std::printf("\n%s\n", assumed.c_str());
  }
}

}  // namespace

Action add_spectrum(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<Arguments>();
  added = parent.add_subcommand(
      "spectrum",
      "Singular values and ranks of the attention maps\n"
      "Every map of every input is kept and printed. Over a large data set, attnscope sweep adds "
      "the maps up instead, in a file from which it resumes.");
  add_model_argument(*added, arguments->model, false, true);
  add_input_option(*added, arguments->model);
  add_data_set_option(*added, arguments->data_set, "Data set on whose items the model runs");
  add_choice_options(*added, arguments->choice, "Number of items of the data set (16; 0: all)");
  add_identity_option(*added, arguments->identity);
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_threshold_options(*added, arguments->threshold);
  added->add_flag(
      "--proposition", arguments->proposition,
      "Print both spectra, with and without I, next to the prediction of Proposition 1");
  add_analysed_options(*added, arguments->analysed);
  added->add_flag("--baselines", arguments->baselines,
                  "Also report ranks of null models (shuffled rows, even rows), and for causal "
                  "maps the rank below the diagonal");
  add_entropy_option(*added, arguments->at_entropy);
  added->add_flag("--stacked", arguments->stacked,
                  "One spectrum for all inputs together: their rows, one above the other, of "
                  "queries, keys, values, outputs or tokens (--of)");
  add_value_option(*added, "--method", arguments->method,
                   "Computation of the singular values: dense from every entry, factored from the "
                   "mechanism's factors (keeps no maps), estimated by Lanczos and quadrature",
                   "automatic|dense|factored|estimated");
  add_value_option(*added, "--dense-limit", arguments->dense_limit,
                   "Number of tokens above which automatic estimates maps that are not factored",
                   "N")
      ->check(CLI::PositiveNumber);
  add_format_options(*added, arguments->format, "a row for each map");
  add_mechanism_options(*added, arguments->model);
  add_channel_option(*added, arguments->model, true);
  add_model_options(*added, arguments->model);
  set_examples(*added, {"attnscope spectrum adder.h5 --input boot.png --identity both",
                        "attnscope spectrum vit.pt@adder --dataset photos --layers 0,5 --csv",
                        "attnscope spectrum trace.h5 --proposition",
                        "attnscope spectrum gpt.pt --input essay.txt --baselines",
                        "attnscope spectrum vit.pt --input cat.png --of seen-by-values --centred",
                        "attnscope spectrum gpt.pt --dataset texts --of keys-before-rotary "
                        "--stacked --share energy"});
  return [arguments] {
    std::vector<IdentityView> views = identity_views(arguments->identity);
    // The proposition covers both views already.
    if (arguments->proposition && views.size() > 1) views = {IdentityView::without};
    const std::vector<SpectrumReport> reports = [&] {
      const TerminalProgress line;
      return make_reports(*arguments, views, line.progress());
    }();
    print(reports, *arguments);
    return 0;
  };
}

}  // namespace attnscope
