// attnscope figure: one figure of models or traces, as a file fit for a paper.
#include <QApplication>
#include <algorithm>
#include <memory>

#include "analysis/figure/figure_command.h"
#include "analysis/figure/number_text.h"
#include "analysis/figure/recipe.h"
#include "app/cli/model_arguments.h"
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
  double width_mm = 84;
  double dpi = 300;
  bool transparent = false;
  std::string heat_maps = "auto";
};

HeatMapExport heat_map_export(const std::string& name) {
  if (name == "auto") return HeatMapExport::automatic;
  if (name == "cells") return HeatMapExport::cells;
  if (name == "pixels") return HeatMapExport::pixels;
  throw unknown_name("way to write heat maps", name, "auto, cells, pixels");
}

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
  const auto settings = find_figure(arguments.name).settings;
  return value == "true" || value == "false" ||
         std::none_of(settings.begin(), settings.end(),
                      [&](const FigureSetting& s) { return s.name == key; });
}

/// The figure's settings; those that mean the mechanism go to `models`.
std::map<std::string, std::string> figure_settings(const FigureArguments& arguments,
                                                   ModelArguments& models) {
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
  return settings;
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
std::string command_line(const FigureArguments& arguments) {
  std::string line = "attnscope figure " + shell_word(arguments.name);
  const auto add = [&line](const char* flag, const std::string& value) {
    if (!value.empty()) line += std::string(" ") + flag + " " + shell_word(value);
  };
  const auto add_all = [&add](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(flag, value);
  };
  const ModelArguments& models = arguments.models;
  add_all("--model", models.models);
  add_all("--label", arguments.labels);
  add_all("--input", models.inputs);
  add("--mechanism", models.mechanism);
  add_all("--set-mechanism", models.settings);
  add("--heads", models.heads);
  add_all("--option", models.options);
  add("--architecture", models.architecture);
  add_all("--set", arguments.settings);
  add("--width-mm", rounded_text(arguments.width_mm, 6));
  if (arguments.dpi != 300) add("--dpi", rounded_text(arguments.dpi, 6));
  if (arguments.heat_maps != "auto") add("--heat-maps", arguments.heat_maps);
  if (arguments.transparent) line += " --transparent";
  add("--out", arguments.out);
  return line;
}

/// Models that are not run: what they cost is in their extents.
std::vector<Subject> subjects_without_traces(const ModelArguments& arguments) {
  std::vector<Subject> subjects;
  for (const std::string& text : arguments.models) {
    const ModelArgument argument = split_model_argument(text);
    const std::shared_ptr<const Model> model = load_model(argument.file, options_of(arguments));
    const bool own = !argument.mechanism.empty();
    const MechanismChoice mechanism =
        choose_mechanism(own ? argument.mechanism : arguments.mechanism,
                         own ? argument.settings : arguments.settings, model->spec().mechanism);
    std::string label = model->name();
    if (mechanism != model->spec().mechanism) label += " as " + to_string(mechanism);
    subjects.push_back({std::move(label), model, mechanism, nullptr, nullptr});
  }
  return subjects;
}

int run(const FigureArguments& arguments) {
  // What can be refused is refused before any model is run.
  const FigureRecipe& recipe = find_figure(arguments.name);
  FigureRequest request;
  ModelArguments models = arguments.models;
  request.settings = figure_settings(arguments, models);
  request.width_mm = arguments.width_mm;
  ExportOptions options;
  options.png_dpi = arguments.dpi;
  options.transparent = arguments.transparent;
  options.heat_maps = heat_map_export(arguments.heat_maps);
  check_settings(arguments.name, request.settings);
  check_export_path(arguments.out);

  TraceRequest recorded;
  recorded.tokens = recorded.factors = true;
  Figure figure;
  {
    const TerminalProgress line;
    request.subjects = recipe.counts_only
                           ? subjects_without_traces(models)
                           : make_subjects(models, recorded, line.progress().part(0, 0.6));
    set_labels(request.subjects, arguments.labels);
    figure = make_figure(arguments.name, request, line.progress().part(0.6, 1));
  }
  figure.command = command_line(arguments);
  const std::unique_ptr<QApplication> application = drawing_application();
  export_figure(figure, arguments.out, options);
  return 0;
}

}  // namespace

Action add_figure(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<FigureArguments>();
  added = parent.add_subcommand("figure", "Draw one figure into a file");
  added->add_option("NAME", arguments->name, "Which figure: see attnscope figures")->required();
  added
      ->add_option("--model", arguments->models.models,
                   "A weight file, a trace, or FILE@MECHANISM[,PARAMETER=VALUE...] to lay a "
                   "mechanism over that model alone; may be repeated. Energy figures need none")
      ->allow_extra_args(false)
      ->type_name("MODEL");
  add_input_option(*added, arguments->models);
  added
      ->add_option("--out", arguments->out,
                   "The file to write: .pdf, .svg, .png, .csv, .tex (PGFPlots) or .json")
      ->required()
      ->type_name("F");
  added->add_option("--width-mm", arguments->width_mm, "Width on paper, 20 to 1000")
      ->capture_default_str();
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
  added
      ->add_option("--set-mechanism", arguments->models.settings,
                   "A parameter of the mechanism, where --set would mean the figure")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  added->add_option("--dpi", arguments->dpi, "Resolution of .png")
      ->check(CLI::Range(20.0, 2400.0))
      ->capture_default_str();
  added->add_flag("--transparent", arguments->transparent, "No background");
  added
      ->add_option("--heat-maps", arguments->heat_maps,
                   "In .pdf and .svg: cells (vectors), pixels (an embedded image, one pixel a "
                   "cell), or auto: cells unless the file would grow past about 8 MB")
      ->capture_default_str();
  add_model_options(*added, arguments->models);
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
