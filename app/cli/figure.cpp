// attnscope figure: one figure of models or traces, or a page of several described in JSON, as a
// file for a paper.
#include <QApplication>
#include <QImage>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <tuple>

#include "analysis/figure/composite.h"
#include "analysis/figure/figure_bytes.h"
#include "analysis/figure/figure_command.h"
#include "analysis/figure/heat_scale.h"
#include "analysis/figure/page_file.h"
#include "analysis/figure/recipe.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/figure_output.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/style_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "app/render/render.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/read_file.h"

namespace attnscope {

namespace {

struct FigureArguments {
  std::string name;  ///< name of a figure, or the file of a page
  ModelArguments models;
  std::vector<std::string> labels;
  std::vector<std::string> settings;
  std::string data_set, count, identity, layers, heads, threshold,
      share;  ///< shorthands of settings
  std::string out;
  std::int64_t film = 0;  ///< duration of each picture in ms; 0: no film
  std::string frames;     ///< KEY=VALUES: a picture of the film for each value of a setting
  StyleArguments style;
};

/// Sets the figure's settings that have an option of the same name in every command.
void add_shared_words(const FigureArguments& arguments, const FigureRecipe& recipe,
                      std::map<std::string, std::string>& settings) {
  struct Word {
    const char* option;
    const std::string& value;
    std::vector<std::string_view> settings;  ///< candidates; the first that the figure has is set
  };
  const std::vector<Word> words = {{"--dataset", arguments.data_set, {"dataset"}},
                                   {"--count", arguments.count, {"count"}},
                                   {"--identity", arguments.identity, {"identity"}},
                                   {"--layers", arguments.layers, {"layers", "layer"}},
                                   {"--heads", arguments.heads, {"heads", "head"}},
                                   {"--threshold", arguments.threshold, {"threshold"}},
                                   {"--share", arguments.share, {"share"}}};
  for (const Word& word : words) {
    if (word.value.empty()) continue;
    const auto has = [&](std::string_view name) {
      return std::any_of(recipe.settings.begin(), recipe.settings.end(),
                         [name](const auto& setting) { return setting.name == name; });
    };
    const auto known = std::find_if(word.settings.begin(), word.settings.end(), has);
    // For operation counts `heads` is the number of heads, not a selection.
    const bool counts = recipe.needs.subject == SubjectNeed::model && recipe.needs.least == 0;
    const bool selects = !counts || word.settings.front() != "heads";
    if (known == word.settings.end() || !selects) {
      std::string remedy = "attnscope list figures shows the settings, for --set";
      if (word.settings.front() == "heads") {
        remedy += "; --model-heads is the number of heads of the model";
      }
      throw Error(ErrorKind::usage,
                  "the figure " + std::string(recipe.name) + " does not support this option")
          .about(word.option)
          .remedy(remedy);
    }
    settings[std::string(*known)] = word.value;
  }
}

/// True if `--set key=value` together with `--mechanism` sets a parameter of the mechanism, as in
/// the other subcommands. `identity` is a figure's setting and a parameter of the adder: true and
/// false set the parameter.
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

/// The figure's settings; settings of the mechanism are added to `models`.
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
  add_shared_words(arguments, find_figure(arguments.name), settings);
  return parse_settings(arguments.name, settings);
}

/// `option` names the labels in the error if their number is wrong.
void set_labels(std::vector<Subject>& subjects, const std::vector<std::string>& labels,
                const std::string& option) {
  if (labels.empty()) return;
  if (labels.size() != subjects.size()) {
    throw Error(ErrorKind::usage, "there must be one label per model and input, or none")
        .about(option)
        .expected(std::to_string(subjects.size()))
        .found(std::to_string(labels.size()));
  }
  for (std::size_t index = 0; index < labels.size(); ++index) {
    subjects[index].label = labels[index];
  }
}

/// The arguments as a command line in a fixed order, quoted for a shell.
std::string figure_as_command(const FigureArguments& arguments, const StyleChoice& choice) {
  FigureCommand command;
  command.figure = arguments.name;
  command.models = arguments.models.models;
  command.labels = arguments.labels;
  command.inputs = arguments.models.inputs;
  command.further = further_arguments(arguments.models);
  command.settings = arguments.settings;
  std::map<std::string, std::string> shared;
  add_shared_words(arguments, find_figure(arguments.name), shared);
  for (const auto& [name, value] : shared) command.settings.push_back(name + "=" + value);
  command.out = arguments.out;
  add_style(arguments.style, choice, command);
  return to_string(command);
}

/// True if --film is given. Throws Error(usage) unless the output is one opaque .png.
bool makes_film(const FigureArguments& arguments, const std::vector<std::filesystem::path>& files) {
  if (arguments.film == 0) return false;
  const bool transparent = arguments.style.background == "transparent";
  if (files.size() != 1 || files.front().extension() != ".png" || transparent) {
    throw Error(ErrorKind::usage, "a film must be one opaque animated .png")
        .about("--film")
        .found(transparent ? "--background transparent" : arguments.out);
  }
  return true;
}

/// The settings of a picture of a film, and the value that they differ in.
struct FilmFrame {
  std::string key;  ///< empty: the settings of the figure
  std::int64_t value = 0;
  ParameterValues settings;
};

/// One frame for each value of --frames; without it one. Throws Error(usage).
std::vector<FilmFrame> film_frames(const FigureArguments& arguments,
                                   const ParameterValues& settings) {
  if (arguments.frames.empty()) return {{"", 0, settings}};
  const std::size_t equals = arguments.frames.find('=');
  if (equals == std::string::npos || arguments.film == 0) {
    throw Error(ErrorKind::usage, "the pictures of a film are not given by the values of a setting")
        .about("--frames")
        .expected("KEY=VALUES, such as query=20-31, with --film")
        .found(arguments.frames);
  }
  std::vector<FilmFrame> frames;
  const std::string key = arguments.frames.substr(0, equals);
  for (const std::int64_t value : index_list(arguments.frames.substr(equals + 1), "--frames")) {
    FigureArguments one = arguments;
    one.settings.push_back(key + "=" + std::to_string(value));
    ModelArguments unused;
    frames.push_back({key, value, figure_settings(one, unused)});
  }
  if (!frames.empty()) return frames;
  throw Error(ErrorKind::usage, "a film needs numbers").about("--frames").found(arguments.frames);
}

/// "query 20, cat": a frame's value, and of a query its token.
std::string frame_in_words(const FilmFrame& frame, const Subject& subject) {
  const std::string value = frame.key + " " + std::to_string(frame.value);
  const bool names = frame.key == "query" && subject.trace;
  return names ? value + ", " + subject.trace->layout.name(frame.value) : value;
}

/// One picture per subject and frame, titled with them, all with the same colour range.
std::vector<Figure> film_figures(const FigureArguments& arguments, const FigureRequest& request,
                                 const std::vector<FilmFrame>& frames, const FigureStyle& style,
                                 const Progress& progress) {
  std::vector<Figure> figures;
  const auto count = static_cast<double>(request.subjects.size() * frames.size());
  for (const Subject& subject : request.subjects) {
    for (const FilmFrame& frame : frames) {
      FigureRequest one = request;
      one.subjects = {subject};
      one.settings = frame.settings;
      const auto done = static_cast<double>(figures.size());
      figures.push_back(
          make_figure(arguments.name, one, progress.part(done / count, (done + 1) / count)));
      figures.back().title =
          subject.label + (frame.key.empty() ? "" : " · " + frame_in_words(frame, subject));
      figures.back().show_title = true;
      // One line, in points, whose type is larger than the figure's by one.
      figures.back().height_mm += 1.4 * (figures.back().font_size_pt + 1) * 25.4 / 72;
    }
  }
  make_alike(figures);
  for (Figure& figure : figures) figure = dressed(std::move(figure), style);
  return figures;
}

void write_film(const FigureArguments& arguments, const std::vector<Figure>& figures,
                const std::filesystem::path& file, double dpi) {
  std::vector<QImage> pictures;
  for (const Figure& figure : figures) pictures.push_back(figure_as_image(figure, dpi));
  const std::string bytes = film_of(pictures, arguments.film);
  write_output(arguments.out, ".png",
               [&](const std::filesystem::path& place) { write_file(place, bytes); });
  std::fprintf(lines_beside(arguments.out), "%s: %zu pictures, %lld ms each\n",
               file.string().c_str(), figures.size(), static_cast<long long>(arguments.film));
}

int run_figure(const FigureArguments& arguments) {
  // Everything that can be refused is refused before any model runs.
  const FigureRecipe& recipe = find_figure(arguments.name);
  FigureRequest request;
  ModelArguments models = arguments.models;
  request.settings = figure_settings(arguments, models);
  std::vector<std::filesystem::path> read = files_read(models);
  for (const std::filesystem::path& file : files_set(arguments.name, request.settings)) {
    read.push_back(file);
  }
  const StyleChoice choice = style_choice(arguments.style);
  request.width_mm = choice.width_mm;
  request.font_size_pt = choice.font_size_pt;
  request.first_layer = choice.first_layer;
  const std::vector<FilmFrame> frames = film_frames(arguments, request.settings);
  const std::vector<std::filesystem::path> files =
      figure_files(arguments.out, arguments.style.formats, read);
  const bool is_film = makes_film(arguments, files);
  const std::unique_ptr<QApplication> application =
      application_for(files, choice.style.font_family);

  Figure figure;
  std::vector<Figure> film;
  {
    const TerminalProgress line;
    request.subjects =
        subjects_for(needs_of(recipe, request.settings), models, line.progress().part(0, 0.6));
    set_labels(request.subjects, arguments.labels, "--label");
    const Progress drawing = line.progress().part(0.6, 1);
    if (is_film) {
      film = film_figures(arguments, request, frames, choice.style, drawing);
    } else {
      figure = dressed(make_figure(arguments.name, request, drawing), choice.style);
    }
  }
  if (is_film) {
    write_film(arguments, film, files.front(), choice.options.png_dpi);
    print_status(lines_beside(arguments.out), request.subjects);
    return 0;
  }
  figure.command = figure_as_command(arguments, choice);
  write_figure(figure, files, choice.options);
  print_status(lines_beside(arguments.out), request.subjects);
  return 0;
}

// --- pages ------------------------------------------------------------------------------------

/// The models and inputs of a figure of the page.
ModelArguments arguments_of(const PageFile& composed, const PageSubjects& cell) {
  ModelArguments arguments;
  arguments.models = cell.models;
  arguments.inputs = cell.inputs;
  arguments.options = composed.options;
  arguments.architecture = composed.architecture;
  return arguments;
}

/// The page's own file and every file that it names.
std::vector<std::filesystem::path> page_files_read(const PageFile& composed,
                                                   const std::filesystem::path& page) {
  std::vector<std::filesystem::path> files = {page};
  for (const auto& row : composed.subjects) {
    for (const PageSubjects& cell : row) {
      const ModelArguments arguments = arguments_of(composed, cell);
      const std::vector<std::filesystem::path> own = files_read(arguments);
      files.insert(files.end(), own.begin(), own.end());
    }
  }
  for (const auto& row : composed.page.rows) {
    for (const PageCell& cell : row) {
      const std::vector<std::filesystem::path> own = files_set(cell.figure, cell.settings);
      files.insert(files.end(), own.begin(), own.end());
    }
  }
  return files;
}

/// `own_width`: the width is that of `style`, even if the page's file has one.
int run_page(const FigureArguments& arguments, const StyleArguments& style, bool own_width) {
  const PageFile composed = read_page_file(file_or_standard_input(arguments.name));
  StyleChoice choice = style_choice(style);
  if (!own_width && composed.look.width_mm > 0) choice.width_mm = composed.look.width_mm;
  if (choice.font_size_pt == 0) choice.font_size_pt = composed.look.font_size_pt;
  const auto files =
      figure_files(arguments.out, style.formats, page_files_read(composed, arguments.name));
  const std::unique_ptr<QApplication> application =
      application_for(files, choice.style.font_family);

  CompositeOptions options = composed.look;
  options.width_mm = choice.width_mm;
  options.font_size_pt = choice.font_size_pt;
  Figure figure;
  // By whether they have runs, and whether those may lack an input.
  std::map<std::tuple<PageSubjects, bool, bool>, std::vector<Subject>> made;
  {
    const TerminalProgress line;
    std::vector<const PageSubjects*> order;
    for (const auto& row : composed.subjects) {
      for (const PageSubjects& cell : row) order.push_back(&cell);
    }
    std::size_t next = 0;
    figure = compose(composed.page, options, [&](const PageCell& cell, double width_mm) {
      const double first = static_cast<double>(next) / static_cast<double>(order.size());
      const double last = static_cast<double>(next + 1) / static_cast<double>(order.size());
      const Progress own = line.progress().part(first, last);
      const PageSubjects& wanted = *order[next++];
      FigureRequest request;
      request.settings = cell.settings;
      request.width_mm = width_mm;
      request.font_size_pt = choice.font_size_pt;
      request.first_layer = choice.first_layer;
      const FigureNeeds needs = needs_of(find_figure(cell.figure), cell.settings);
      std::vector<Subject>& known = made[{wanted, wants_runs(needs), needs.any_input_serves}];
      if (known.empty()) {
        known = subjects_for(needs, arguments_of(composed, wanted), own.part(0, 0.6));
      }
      request.subjects = known;
      set_labels(request.subjects, wanted.labels, cell.figure + ", labels");
      return make_figure(cell.figure, request, own.part(0.6, 1));
    });
  }
  figure = dressed(std::move(figure), choice.style);
  FigureCommand command;
  command.figure = arguments.name;
  add_style(style, choice, command);
  command.out = arguments.out;
  figure.command = to_string(command);
  write_figure(figure, files, choice.options);
  for (const auto& [cell, subjects] : made) print_status(lines_beside(arguments.out), subjects);
  return 0;
}

// --- figures that the Python package made
// ---------------------------------------------------------

/// True if `file` begins as figure_as_bytes does.
bool is_made_figure(const std::filesystem::path& file) {
  std::string start(64, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  return holds_figure(start);
}

/// Draws a figure of figure_as_bytes as it is, but for its style.
int run_made_figure(const StyleArguments& style, const std::string& out,
                    const std::filesystem::path& made, const CLI::App& command) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  for (const char* option : {"--width", "--font-size", "--layers-from"}) {
    if (command.get_option(option)->count() == 0) continue;
    throw Error(ErrorKind::usage, "a figure has the size that it was made for").about(option);
  }
  const StyleChoice choice = style_choice(style);
  const auto files = figure_files(out, style.formats, {made});
  const std::unique_ptr<QApplication> application =
      application_for(files, choice.style.font_family);
  write_figure(dressed(figure_of_bytes(read_file(made, most_bytes)), choice.style), files,
               choice.options);
  return 0;
}

/// True if FIGURE is a file, of a page or of a figure, not the name of a figure.
bool is_file(const std::string& name) {
  const auto recipes = figure_recipes();
  if (std::ranges::find(recipes, name, &FigureRecipe::name) != recipes.end()) return false;
  std::error_code ignored;
  return name == "-" || name.ends_with(".json") ||
         (std::filesystem::exists(name, ignored) && !std::filesystem::is_directory(name, ignored));
}

/// Throws Error(usage) for an argument of single figures, which the description of a page replaces.
void refuse_arguments_of_one_figure(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    const bool is_of_page =
        option->get_group() == "Look" || name == "FIGURE" || name == "--out" || name == "--format";
    if (option->count() == 0 || is_of_page) continue;
    throw Error(ErrorKind::usage, "a page names the models and settings of its figures in its file")
        .about(name)
        .remedy(page_form);
  }
}

int run(const FigureArguments& arguments, const CLI::App& command) {
  if (!is_file(arguments.name)) return run_figure(arguments);
  refuse_arguments_of_one_figure(command);
  if (const auto file = file_or_standard_input(arguments.name); is_made_figure(file)) {
    return run_made_figure(arguments.style, arguments.out, file, command);
  }
  StyleArguments style = arguments.style;
  const bool own_width = command.get_option("--width")->count() > 0;
  if (!own_width) style.width = "page";
  return run_page(arguments, style, own_width);
}

}  // namespace

Action add_figure(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<FigureArguments>();
  added = parent.add_subcommand("figure", "Draw a figure, or a page of several, into a file");
  added
      ->add_option(
          "FIGURE", arguments->name,
          R"(Name of the figure (attnscope list figures shows them), or the file of a page )"
          R"(of several: {"models": […], "inputs": […], "letters": true, )"
          R"("shared_colours": false, "shared_legend": false, "width_mm": 174, )"
          R"("rows": [[{"figure": "NAME", "settings": {…}, )"
          R"("share": 1, "title": "…"}]]}; each figure may have models, inputs and labels )"
          "of its own; - reads a page from standard input")
      ->required()
      ->type_name("FIGURE|FILE");
  add_model_argument(*added, arguments->models, true, false, "Energy figures need none");
  add_input_option(*added, arguments->models);
  added
      ->add_option("--out", arguments->out,
                   "The file to write: .pdf, .svg, .png, .tex (PGFPlots), .csv, .json, .h5 or "
                   ".npz; - for standard output, with --format")
      ->required()
      ->type_name("FILE");
  added
      ->add_option("--set", arguments->settings,
                   "A setting of the figure (attnscope list figures shows them), or a parameter "
                   "of --mechanism; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  add_data_set_option(*added, arguments->data_set, "Data set for figures over many items");
  const auto word = [&](const char* option, std::string& value, const char* text,
                        const std::string& values) {
    added->add_option(option, value, text)->type_name(values);
  };
  word("--count", arguments->count, "Number of items of the data set; 0: all", "N");
  word("--identity", arguments->identity, "The maps as they are, without I, with I, or both",
       identity_words());
  word("--layers", arguments->layers, "Layers, from 0: 0,2-4, or all", "N,…");
  word("--heads", arguments->heads, "Heads, from 0: 0,2-4, or all", "N,…");
  word("--threshold", arguments->threshold, "Threshold of the equivalent rank, above 0, at most 1",
       "T");
  word("--share", arguments->share,
       "What the threshold is a share of: the sum of the singular values, or of their squares",
       "values|energy");
  added
      ->add_option("--label", arguments->labels,
                   "Label of each model in the figure, in their order; may be repeated")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  add_mechanism_options(*added, arguments->models, false);
  add_channel_option(*added, arguments->models);
  added
      ->add_option("--set-mechanism", arguments->models.settings,
                   "A parameter of the mechanism that --set would take for one of the figure")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE")
      ->group("Mechanism");
  added
      ->add_option("--film", arguments->film,
                   "Milliseconds per frame of an animated .png with one frame for each model or "
                   "training step")
      ->type_name("MS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{65535}));
  added
      ->add_option("--frames", arguments->frames,
                   "A setting and its values, with one frame of the film for each: query=20-31")
      ->type_name("KEY=VALUES");
  add_style_options(*added, arguments->style);
  added->get_option("--width")->default_str("84, for a page 174");
  add_model_options(*added, arguments->models);
  set_examples(
      *added,
      {"attnscope figure rank-by-layer softmax.h5 adder.h5 --input boot.png --out f.pdf",
       "attnscope figure attention-maps vit.pt@adder --layers 0,5 --input cat.png --out m.svg",
       "attnscope figure sweep-spectrum --set file=sweep.h5 --out spectrum.pdf",
       "attnscope figure page.json --out page.pdf"});
  return [arguments, command = added] { return run(*arguments, *command); };
}

}  // namespace attnscope
