// attnscope figure: one figure of models or traces, as a file fit for a paper.
#include <QApplication>
#include <algorithm>
#include <memory>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/recipe.h"
#include "app/cli/model_arguments.h"
#include "app/cli/style_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "app/render/application.h"
#include "app/render/render.h"
#include "core/error.h"

namespace attnscope {

namespace {

struct FigureArguments {
  std::string name;
  ModelArguments models;
  std::vector<std::string> labels;
  std::vector<std::string> settings;
  std::string out;
  StyleArguments style;
};

/// Whether `--set key=value` beside `--mechanism` means the mechanism, as in the other subcommands.
/// `identity` is both a figure's setting and the adder's parameter: true and false mean the latter.
bool is_of_mechanism(const FigureArguments& arguments, const std::string& key,
                     const std::string& value) {
  if (arguments.models.mechanism.empty()) return false;
  const auto parameters = find_mechanism(arguments.models.mechanism).parameters;
  if (std::none_of(parameters.begin(), parameters.end(),
                   [&](const ParameterDescription& p) { return p.name == key; })) {
    return false;
  }
  return value == "true" || value == "false" ||
         find_description(find_figure(arguments.name).settings, key) == nullptr;
}

/// The figure's settings; those that mean the mechanism go to `models`.
ParameterValues figure_settings(const FigureArguments& arguments, ModelArguments& models) {
  std::map<std::string, std::string> settings;
  for (const std::string& text : arguments.settings) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "a setting is written key=value").about("--set").found(text);
    }
    const std::string key = text.substr(0, equals);
    const std::string value = text.substr(equals + 1);
    if (is_of_mechanism(arguments, key, value)) {
      models.settings.push_back(text);
    } else {
      settings[key] = value;
    }
  }
  return parse_settings(arguments.name, settings);
}

void set_labels(std::vector<Subject>& subjects, const std::vector<std::string>& labels) {
  if (labels.empty()) return;
  if (labels.size() != subjects.size()) {
    throw Error(ErrorKind::usage, "every model and input needs its label, or none")
        .about("--label")
        .expected(std::to_string(subjects.size()))
        .found(std::to_string(labels.size()));
  }
  for (std::size_t index = 0; index < labels.size(); ++index) {
    subjects[index].label = labels[index];
  }
}

/// The arguments again, in one order, quoted for a shell.
std::string command_line(const FigureArguments& arguments, const StyleChoice& choice) {
  FigureCommand command;
  command.figure = arguments.name;
  command.models = arguments.models.models;
  command.labels = arguments.labels;
  command.inputs = arguments.models.inputs;
  command.further = further_arguments(arguments.models);
  command.settings = arguments.settings;
  command.out = arguments.out;
  say_style(arguments.style, choice, command);
  return to_string(command);
}

int run(const FigureArguments& arguments) {
  // What can be refused is refused before any model is run.
  const FigureRecipe& recipe = find_figure(arguments.name);
  FigureRequest request;
  ModelArguments models = arguments.models;
  request.settings = figure_settings(arguments, models);
  const StyleChoice choice = style_choice(arguments.style);
  request.width_mm = choice.width_mm;
  request.font_size_pt = choice.font_size_pt;
  request.first_layer = choice.first_layer;
  const std::vector<std::filesystem::path> files =
      export_files(arguments.out, arguments.style.formats);
  const std::unique_ptr<QApplication> application = drawing_application();
  check_font_family(choice.style.font_family);

  Figure figure;
  {
    const TerminalProgress line;
    request.subjects =
        subjects_for(needs_of(recipe, request.settings), models, line.progress().part(0, 0.6));
    set_labels(request.subjects, arguments.labels);
    figure =
        dressed(make_figure(arguments.name, request, line.progress().part(0.6, 1)), choice.style);
  }
  figure.command = command_line(arguments, choice);
  for (const std::filesystem::path& file : files) export_figure(figure, file, choice.options);
  return 0;
}

}  // namespace

Action add_figure(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<FigureArguments>();
  added = parent.add_subcommand("figure", "Draw one figure into a file");
  added->add_option("NAME", arguments->name, "Which figure: see attnscope figures")->required();
  added
      ->add_option(
          "--model", arguments->models.models,
          "A weight file, a trace, or FILE@MECHANISM[,PARAMETER=VALUE...] to lay a "
          "mechanism over that model alone, FILE@,input=X to run it on an input of its own; may "
          "be repeated. Energy figures need none")
      ->allow_extra_args(false)
      ->type_name("MODEL");
  add_input_option(*added, arguments->models);
  added
      ->add_option("--out", arguments->out,
                   "The file to write: .pdf, .svg, .png, .tex (PGFPlots), .csv, .json, .h5 or .npz")
      ->required()
      ->type_name("F");
  added
      ->add_option("--set", arguments->settings,
                   "A setting of the figure (attnscope figures lists them), or a parameter of "
                   "--mechanism; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  added
      ->add_option("--label", arguments->labels,
                   "What the figure calls each model, in the order of --model")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  add_mechanism_options(*added, arguments->models, false);
  add_channel_option(*added, arguments->models);
  added
      ->add_option("--set-mechanism", arguments->models.settings,
                   "A parameter of the mechanism, where --set would mean the figure")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  add_style_options(*added, arguments->style);
  add_model_options(*added, arguments->models);
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
