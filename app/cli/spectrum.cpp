// attnscope spectrum: singular values and ranks of a model's attention maps.
#include "analysis/spectrum/spectrum.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/spectrum/channel_spectra.h"
#include "app/cli/model_arguments.h"
#include "app/cli/spectrum_report.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/input/data_set.h"
#include "core/trace/trace_channel.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

struct Arguments {
  ModelArguments model;
  std::string data_set;
  ItemChoice choice{16};
  bool identity = false;
  bool proposition = false;
  double threshold = 0.9;
  std::string method = "automatic";
  std::int64_t dense_limit = SpectrumOptions{}.dense_limit;
  bool json = false;
  bool csv = false;
};

/// The inputs asked for, opened one at a time: a data set's traces need not fit in memory.
class InputList {
 public:
  explicit InputList(const Arguments& arguments) : locators_(arguments.model.inputs) {
    if (arguments.data_set.empty()) return;
    data_set_ = open_data_set(arguments.data_set);
    items_ = chosen_items(data_set_->size(), arguments.choice);
    words_ =
        choice_in_words(data_set_->size(), arguments.choice, "items") + " of " + arguments.data_set;
  }

  [[nodiscard]] std::int64_t size() const { return std::ssize(locators_) + std::ssize(items_); }
  [[nodiscard]] Input open(std::int64_t index) const {
    const auto given = static_cast<std::int64_t>(locators_.size());
    return index < given ? open_input(locators_[static_cast<std::size_t>(index)])
                         : data_set_->item(items_[static_cast<std::size_t>(index - given)]);
  }

  /// Which items of the data set: "16 of 10000 items, …"; empty without one.
  [[nodiscard]] const std::string& words() const { return words_; }

 private:
  std::vector<std::string> locators_;
  std::shared_ptr<const DataSet> data_set_;
  std::vector<std::int64_t> items_;  ///< of the data set
  std::string words_;
};

// Values go into tables and files: each of them is to be right, not only their shares.
SpectrumOptions options_of(const Arguments& arguments) {
  return {.threshold = arguments.threshold,
          .accuracy = SpectrumAccuracy::every_value,
          .method = spectrum_method(arguments.method),
          .dense_limit = arguments.dense_limit};
}

void add_heading(SpectrumReport& report, const Trace& trace) {
  report.model = trace.model_name;
  report.mechanism = trace.mechanism;
  report.mechanism_trained = trace.mechanism_trained;
  report.channels = channel_in_words(trace);
  report.inputs.push_back(trace.input_label);
}

IdentityView view_of(const Arguments& arguments) {
  return arguments.identity ? IdentityView::with : IdentityView::as_is;
}

/// The maps of every channel instead of the one that the trace holds.
void add_channels(SpectrumReport& report, const Arguments& arguments, const Subject& subject,
                  const Progress& progress) {
  add_heading(report, *subject.trace);
  if (subject.trace->map_channels > 1) {
    report.channels = "each of " + std::to_string(subject.trace->map_channels) + " channels";
  }
  report.maps.push_back(
      spectra_of_channels(subject, view_of(arguments), options_of(arguments), progress));
}

void add_trace(SpectrumReport& report, const Arguments& arguments, const Trace& trace,
               const Progress& progress) {
  const SpectrumOptions options = options_of(arguments);
  const IdentityView view = view_of(arguments);
  add_heading(report, trace);
  if (!arguments.proposition) {
    report.maps.push_back(spectra_of(trace, view, options, progress));
    return;
  }
  std::vector<IdentityEffect> effects = identity_effects(trace, options, progress);
  std::vector<MapSpectrum>& maps = report.maps.emplace_back();
  for (const IdentityEffect& effect : effects) {
    const bool with = view == IdentityView::with ||
                      (view == IdentityView::as_is && has_identity(trace, effect.without.layer));
    maps.push_back(with ? effect.with : effect.without);
  }
  report.effects.push_back(std::move(effects));
}

SpectrumReport make_report(const Arguments& arguments, const Progress& progress) {
  SpectrumReport report;
  report.threshold = arguments.threshold;
  report.asked_with_identity = arguments.identity;
  const ModelArgument argument = split_without_input(arguments.model.models.front());
  const InputList inputs(arguments);
  report.chosen = inputs.words();
  if (is_trace_file(argument.file)) {
    if (arguments.model.channel != "mean") {
      throw Error(ErrorKind::usage, "a trace holds the maps of one channel, or their mean")
          .in_file(argument.file)
          .about("--channel")
          .remedy("give the model's weight file and an input");
    }
    if (inputs.size() > 0 || !argument.mechanism.empty() || !arguments.model.mechanism.empty()) {
      throw Error(ErrorKind::usage, "a trace holds what was run; it cannot be run again")
          .in_file(argument.file)
          .remedy("give the model's weight file, or leave out --input, --dataset and --mechanism");
    }
    add_trace(report, arguments, read_trace(argument.file), progress);
    return report;
  }
  const auto model = load_model(argument.file, options_of(arguments.model), progress.part(0, 0.05));
  if (inputs.size() == 0) {
    throw Error(ErrorKind::usage, "a model needs an input to run on")
        .about("--input")
        .expected("an image, a .npy array, DATASET#INDEX, or --dataset");
  }
  const auto [mechanism, parameters] =
      mechanism_argument(arguments.model, argument, model->spec().mechanism);
  TraceRequest request;
  // Of long inputs the factors fit in memory where the maps do not.
  request.implied_maps = spectrum_method(arguments.method) != SpectrumMethod::factored;
  request.factors = true;
  request.parameters = parameters;
  const std::string& channel =
      argument.channel.empty() ? arguments.model.channel : argument.channel;
  const bool all_channels = channel == "all";
  if (!all_channels) request.channel = parse_channel(channel);
  if (all_channels && arguments.proposition) {
    throw Error(ErrorKind::usage, "the proposition is about the maps of one channel, or their mean")
        .about("--channel");
  }
  const double share = 0.95 / static_cast<double>(inputs.size());
  for (std::int64_t i = 0; i < inputs.size(); ++i) {
    const double first = 0.05 + share * static_cast<double>(i);
    const Progress of_input = progress.part(first, first + share);
    const auto input = std::make_shared<const Input>(inputs.open(i));
    auto trace = std::make_shared<const Trace>(
        model->run(*input, mechanism, request, of_input.part(0, all_channels ? 0.05 : 0.5)));
    if (all_channels) {
      add_channels(report, arguments, {model->name(), model, mechanism, input, trace, parameters},
                   of_input.part(0.05, 1));
    } else {
      add_trace(report, arguments, *trace, of_input.part(0.5, 1));
    }
  }
  return report;
}

}  // namespace

Action add_spectrum(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<Arguments>();
  added = parent.add_subcommand("spectrum", "Singular values and ranks of the attention maps");
  added->add_option("MODEL", arguments->model.models, "Weight file or trace")
      ->required()
      ->expected(1);
  add_input_option(*added, arguments->model);
  added->add_option("--dataset", arguments->data_set, "Run on items of a data set")->type_name("D");
  add_choice_options(*added, arguments->choice, "How many items of the data set (16; 0: all)");
  added->add_flag("--identity", arguments->identity,
                  "Add I to every map that does not contain it (Adder, Eq. 20)");
  added->add_option("--threshold", arguments->threshold,
                    "Of the equivalent rank, above 0, at most 1 (0.9)");
  added->add_flag("--proposition", arguments->proposition,
                  "Both spectra, with and without I, beside what Proposition 1 predicts");
  added
      ->add_option("--method", arguments->method,
                   "How singular values are found: automatic, dense (LAPACK), factored (from the "
                   "mechanism's factors; keeps no maps) or estimated (Lanczos and quadrature)")
      ->capture_default_str();
  added
      ->add_option("--dense-limit", arguments->dense_limit,
                   "With more tokens than this, automatic estimates what is not factored")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* json = added->add_flag("--json", arguments->json, "Write JSON");
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each map")->excludes(json);
  add_mechanism_options(*added, arguments->model);
  add_channel_option(*added, arguments->model, true);
  add_model_options(*added, arguments->model);
  return [arguments] {
    const SpectrumReport report = [&] {
      const TerminalProgress line;
      return make_report(*arguments, line.progress());
    }();
    if (arguments->json) {
      print_json(report);
    } else if (arguments->csv) {
      print_csv(report);
    } else {
      print_table(report);
    }
    return 0;
  };
}

}  // namespace attnscope
