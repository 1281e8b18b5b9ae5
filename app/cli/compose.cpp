// attnscope compose: several figures on one page, described in JSON, each with its own models and
// inputs.
#include <QApplication>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/figure/composite.h"
#include "analysis/figure/figure_command.h"
#include "app/cli/command_table.h"
#include "app/cli/figure_output.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/style_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "app/render/application.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/text/failure.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

using nlohmann::json;

/// The models and inputs that a cell of the page shows.
struct CellSubjects {
  std::vector<std::string> models, inputs, labels;

  bool operator<(const CellSubjects& other) const {
    return std::tie(models, inputs, labels) < std::tie(other.models, other.inputs, other.labels);
  }
};

struct ComposedPage {
  Page page;
  std::vector<std::vector<CellSubjects>> subjects;  ///< same shape as page.rows
  bool letters = true, shared_colours = false;
};

void check_keys(const json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw unknown_name("key of a page", key, name_list(known));
    }
  }
}

/// The value as text for `--set`; list items are separated by commas.
std::string setting_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  return name_list(value, setting_text, ",");
}

/// `text` below the page's folder if such a file exists there, otherwise `text` unchanged.
std::string beside(const std::filesystem::path& folder, const std::string& text) {
  const std::string file = text.substr(0, text.find_last_of("@#"));
  std::error_code ignored;
  for (const std::string& candidate : {text, file}) {
    if (std::filesystem::exists(folder / candidate, ignored)) return (folder / text).string();
  }
  return text;
}

CellSubjects read_subjects(const json& object, const CellSubjects& otherwise,
                           const std::filesystem::path& folder) {
  CellSubjects subjects = otherwise;
  const auto list = [&](const char* key, std::vector<std::string>& values, bool files) {
    if (!object.contains(key)) return;
    values = object.at(key).get<std::vector<std::string>>();
    if (!files) return;
    for (std::string& value : values) value = beside(folder, value);
  };
  // Inherited labels do not apply to another choice of models.
  if (object.contains("models")) subjects.labels.clear();
  list("models", subjects.models, true);
  list("inputs", subjects.inputs, true);
  list("labels", subjects.labels, false);
  return subjects;
}

ComposedPage read_page(const json& root, const std::filesystem::path& folder) {
  check_keys(root, {"rows", "models", "inputs", "labels", "letters", "shared_colours"});
  ComposedPage composed;
  composed.letters = root.value("letters", true);
  composed.shared_colours = root.value("shared_colours", false);
  const CellSubjects all = read_subjects(root, {}, folder);
  for (const json& row : root.at("rows")) {
    composed.page.rows.emplace_back();
    composed.subjects.emplace_back();
    for (const json& object : row) {
      check_keys(object, {"figure", "settings", "share", "title", "models", "inputs", "labels"});
      PageCell cell;
      cell.figure = object.at("figure").get<std::string>();
      const json settings = object.value("settings", json::object());
      std::map<std::string, std::string> texts;
      for (const auto& [key, value] : settings.items()) texts[key] = setting_text(value);
      cell.settings = parse_settings(cell.figure, texts);
      cell.share = object.value("share", 1.0);
      if (!(cell.share > 0 && cell.share <= 1000)) {
        throw Error(ErrorKind::usage, "a figure's share of its row must be above 0")
            .about(cell.figure);
      }
      cell.title = object.value("title", "");
      composed.page.rows.back().push_back(std::move(cell));
      composed.subjects.back().push_back(read_subjects(object, all, folder));
    }
    if (row.empty()) throw Error(ErrorKind::usage, "a row of the page is empty").about("rows");
  }
  if (composed.page.rows.empty()) {
    throw Error(ErrorKind::usage, "the page has no rows").about("rows");
  }
  return composed;
}

constexpr const char* page_form =
    R"(write {"models": […], "inputs": […], "rows": [[{"figure": "NAME"}, …], …]})";

ComposedPage read_page_file(const std::filesystem::path& file) {
  try {
    return read_page(read_json_file(file), file.parent_path());
  } catch (const json::exception& error) {
    throw Error(ErrorKind::usage, "the page's description is not valid")
        .in_file(file)
        .found(problem_of(error))
        .remedy(page_form);
  } catch (Error& error) {
    // The page's description is user input, so invalid JSON is a usage error.
    if (error.kind() == ErrorKind::damaged) {
      throw Error(ErrorKind::usage, "the page's description is not JSON")
          .in_file(file)
          .found(error.found_text())
          .remedy(page_form);
    }
    error.in_file(file);
    throw;
  }
}

/// The page's own file and every file that it names.
std::vector<std::filesystem::path> files_read(const ComposedPage& composed,
                                              const std::filesystem::path& page) {
  std::vector<std::filesystem::path> files = {page};
  for (const auto& row : composed.subjects) {
    for (const CellSubjects& cell : row) {
      ModelArguments arguments;
      arguments.models = cell.models;
      arguments.inputs = cell.inputs;
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

struct ComposeArguments {
  std::string page, out;
  StyleArguments style;
};

int run(const ComposeArguments& arguments) {
  const ComposedPage composed = read_page_file(file_or_standard_input(arguments.page));
  const StyleChoice choice = style_choice(arguments.style);
  const auto files =
      figure_files(arguments.out, arguments.style.formats, files_read(composed, arguments.page));
  const bool asks_font = !choice.style.font_family.empty();
  const std::unique_ptr<QApplication> application =
      asks_font ? drawing_application() : application_for(files);
  if (asks_font) check_font_family(choice.style.font_family);

  const double growth = choice.font_size_pt > 0 ? choice.font_size_pt / Figure{}.font_size_pt : 1;
  CompositeOptions options;
  options.width_mm = choice.width_mm;
  options.letters = composed.letters;
  options.shared_colours = composed.shared_colours;
  Figure figure;
  std::map<std::pair<CellSubjects, bool>, std::vector<Subject>> made;  // true: with runs
  {
    const TerminalProgress line;
    std::vector<const CellSubjects*> order;
    for (const auto& row : composed.subjects) {
      for (const CellSubjects& cell : row) order.push_back(&cell);
    }
    std::size_t next = 0;
    figure = compose(composed.page, options, [&](const PageCell& cell, double width_mm) {
      const double first = static_cast<double>(next) / static_cast<double>(order.size());
      const double last = static_cast<double>(next + 1) / static_cast<double>(order.size());
      const Progress own = line.progress().part(first, last);
      const CellSubjects& wanted = *order[next++];
      FigureRequest request;
      request.settings = cell.settings;
      request.width_mm = width_mm;
      request.font_size_pt = choice.font_size_pt;
      request.first_layer = choice.first_layer;
      ModelArguments models;
      models.models = wanted.models;
      models.inputs = wanted.inputs;
      const FigureNeeds needs = needs_of(find_figure(cell.figure), cell.settings);
      std::vector<Subject>& known = made[{wanted, wants_runs(needs)}];
      if (known.empty()) known = subjects_for(needs, models, own.part(0, 0.6));
      request.subjects = known;
      if (wanted.labels.size() == request.subjects.size()) {
        for (std::size_t i = 0; i < wanted.labels.size(); ++i) {
          request.subjects[i].label = wanted.labels[i];
        }
      } else if (!wanted.labels.empty()) {
        throw Error(ErrorKind::usage, "there must be one label per model and input, or none")
            .about(cell.figure + ", labels")
            .expected(std::to_string(request.subjects.size()))
            .found(std::to_string(wanted.labels.size()));
      }
      return make_figure(cell.figure, request, own.part(0.6, 1));
    });
  }
  figure.name = "composite";
  figure.title = "Page of several figures";
  figure.font_size_pt *= growth;
  figure = dressed(std::move(figure), choice.style);
  FigureCommand command;
  say_style(arguments.style, choice, command);
  command.out = arguments.out;
  figure.command = compose_command(arguments.page, command);
  write_figure(figure, files, choice.options);
  for (const auto& [cell, subjects] : made) print_status(lines_beside(arguments.out), subjects);
  return 0;
}

}  // namespace

Action add_compose(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<ComposeArguments>();
  arguments->style.width = "174";
  added = parent.add_subcommand("compose", "Several figures on one page, as a JSON file describes");
  added
      ->add_option("PAGE", arguments->page,
                   R"({"models": […], "inputs": […], "letters": true, "shared_colours": false, )"
                   R"("rows": [[{"figure": "NAME", "settings": {…}, "share": 1, "title": "…"}]]}; )"
                   "each figure may have models, inputs and labels of its own; - reads standard "
                   "input")
      ->required()
      ->type_name("FILE");
  added
      ->add_option("--out", arguments->out,
                   "The file to write: .pdf, .svg, .png, .tex (PGFPlots), .csv, .json or .h5; - "
                   "for standard output, with --format")
      ->required()
      ->type_name("FILE");
  add_style_options(*added, arguments->style);
  set_examples(*added, {"attnscope compose page.json --width page --out figure-1.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
