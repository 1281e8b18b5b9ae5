#include "app/cli/subjects.h"

#include <map>
#include <tuple>

#include "analysis/figure/figure_command.h"
#include "app/cli/standard_streams.h"
#include "core/error.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace {

Subject trace_subject(const std::filesystem::path& file, bool has_mechanism) {
  if (has_mechanism) {
    throw Error(ErrorKind::usage, "a trace holds what was run; it cannot be run again")
        .in_file(file)
        .about("--mechanism")
        .remedy("give the model's weight file");
  }
  auto trace = std::make_shared<const Trace>(read_trace(file));
  Subject subject;
  subject.label = trace->model_name;
  subject.mechanism = trace->mechanism;
  subject.trace = std::move(trace);
  return subject;
}

std::string label_of(const Model& model, const Trace& trace, bool codes_laid_over,
                     const Input& input, bool several_inputs) {
  std::string label = subject_name(model, trace.mechanism, codes_laid_over);
  if (several_inputs) label += " on " + input.label;
  return label;
}

/// A normalised image of zeros, without a name, for figures that are the same for every input.
Input image_of_zeros(const InputSpec& spec) {
  Input zeros;
  zeros.content = Tensor(Shape{spec.channels, spec.image_height, spec.image_width});
  return zeros;
}

}  // namespace

std::vector<Subject> make_subjects(const ModelArguments& arguments, const TraceRequest& request,
                                   const Progress& progress, bool any_input_serves) {
  if (arguments.models.empty()) throw Error(ErrorKind::usage, "no model was given");
  std::vector<std::shared_ptr<const Input>> inputs;
  // Loaded models by file, description and options, so each is loaded only once.
  using Asked = std::tuple<std::string, std::string, std::map<std::string, std::string>>;
  std::map<Asked, std::shared_ptr<const Model>> loaded;
  std::vector<Subject> subjects;
  const double share = 1.0 / static_cast<double>(arguments.models.size());
  for (std::size_t i = 0; i < arguments.models.size(); ++i) {
    const Progress own =
        progress.part(static_cast<double>(i) * share, static_cast<double>(i + 1) * share);
    const ModelArgument argument = split_model_argument(arguments.models[i]);
    if (is_trace_file(argument.file)) {
      const bool asks_for_run = !argument.mechanism.empty() || !argument.settings.empty() ||
                                !argument.input.empty() || !arguments.mechanism.empty();
      subjects.push_back(trace_subject(argument.file, asks_for_run));
      continue;
    }
    const ModelOptions options = options_of(arguments, argument);
    std::shared_ptr<const Model>& model =
        loaded[{argument.file.string(), options.description.string(), options.overrides}];
    if (!model) model = load_model(argument.file, options, own.part(0, 0.2));
    const bool has_none = arguments.inputs.empty() && argument.input.empty();
    const ModelSpec& spec = model->spec();
    const bool takes_zeros =
        has_none && any_input_serves && spec.has_grid() && spec.input.patch_height > 0;
    if (has_none && !takes_zeros) {
      throw Error(ErrorKind::usage, "a model needs an input to run on")
          .about("--input")
          .expected("an image, a .npy array, DATASET#INDEX, a text, or - for standard input");
    }
    if (inputs.empty()) {
      for (const std::string& locator : arguments.inputs) {
        inputs.push_back(std::make_shared<const Input>(open_input_argument(locator)));
      }
    }
    const auto [mechanism, parameters] =
        mechanism_argument(arguments, argument, model->spec().mechanism);
    TraceRequest asked = request;
    asked.parameters = parameters;
    asked.channel = parse_channel(argument.channel.empty() ? arguments.channel : argument.channel);
    std::vector<std::shared_ptr<const Input>> on = inputs;
    if (takes_zeros) on = {std::make_shared<const Input>(image_of_zeros(model->spec().input))};
    if (!argument.input.empty()) {
      on = {std::make_shared<const Input>(open_input_argument(argument.input))};
    }
    for (std::size_t k = 0; k < on.size(); ++k) {
      const double part = 0.8 / static_cast<double>(on.size());
      const double first = 0.2 + part * static_cast<double>(k);
      auto trace = std::make_shared<const Trace>(
          model->run(*on[k], mechanism, asked, own.part(first, first + part)));
      const bool says_input = on.size() > 1 || !argument.input.empty();
      subjects.push_back({label_of(*model, *trace, parameters != nullptr, *on[k], says_input),
                          model, mechanism, on[k], std::move(trace), parameters, argument.input});
    }
  }
  return subjects;
}

std::vector<Subject> subjects_for(const FigureNeeds& needs, const ModelArguments& arguments,
                                  const Progress& progress) {
  if (!wants_runs(needs)) return make_subjects_without_traces(arguments);
  return make_subjects(arguments, recorded_for_figures(needs), progress, needs.any_input_serves);
}

TraceRequest recorded_for_figures(const FigureNeeds& needs) {
  TraceRequest request;
  request.queries_keys_values = needs.vectors;
  request.tokens = needs.tokens;
  request.factors = request.quantities = true;
  request.large_maps = TraceRequest::LargeMaps::computed;
  return request;
}

std::vector<Subject> make_subjects_without_traces(const ModelArguments& arguments) {
  std::vector<Subject> subjects;
  for (const std::string& text : arguments.models) {
    const ModelArgument argument = split_without_input(text);
    const std::shared_ptr<const Model> model =
        load_model(argument.file, options_of(arguments, argument));
    const MechanismChoice mechanism =
        choose_mechanism(arguments, argument, model->spec().mechanism);
    subjects.push_back({subject_name(*model, mechanism), model, mechanism, nullptr, nullptr});
  }
  return subjects;
}

}  // namespace attnscope
