// attnscope gallery: every figure of the papers that can be drawn from the given models.
#include "analysis/figure/gallery.h"

#include <QApplication>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/figure/figure_command.h"
#include "analysis/html/html_document.h"
#include "analysis/html/html_text.h"
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
#include "app/session/sample_data.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

struct GalleryArguments {
  ModelArguments models;
  std::string data_set, out;
  StyleArguments style;
  bool list = false;
  bool json = false;
};

/// Models × inputs without the pairs that do not fit, because texts and images may be given
/// together. Throws the last refusal if a model fits no input.
std::vector<Subject> fitting_subjects(const ModelArguments& arguments, const Progress& progress) {
  std::vector<Subject> subjects;
  const double share = 1.0 / static_cast<double>(std::max<std::size_t>(1, arguments.models.size()));
  for (std::size_t i = 0; i < arguments.models.size(); ++i) {
    const double first = static_cast<double>(i) * share;
    const Progress own = progress.part(first, first + share);
    ModelArguments one = arguments;
    one.models = {arguments.models[i]};
    std::vector<Subject> of_model;
    std::unique_ptr<Error> refused;
    // A trace runs without an input.
    const std::vector<std::string> inputs =
        arguments.inputs.empty() ? std::vector<std::string>{""} : arguments.inputs;
    for (const std::string& input : inputs) {
      one.inputs.clear();
      if (!input.empty()) one.inputs.push_back(input);
      try {
        for (Subject& subject : make_subjects(one, recorded_for_figures(), own)) {
          if (inputs.size() > 1 && subject.input) subject.label += " on " + subject.input->label;
          of_model.push_back(std::move(subject));
        }
      } catch (const Error& error) {
        refused = std::make_unique<Error>(error);
        continue;
      }
      if (of_model.back().input == nullptr) break;  // a trace is added only once
    }
    if (of_model.empty() && refused) throw Error(*refused);
    std::move(of_model.begin(), of_model.end(), std::back_inserter(subjects));
  }
  return subjects;
}

/// All sample models and four sample images, as in DAFT, Figs. 11 to 14, and the sample texts.
void take_samples(ModelArguments& arguments) {
  std::error_code ignored;
  std::vector<std::string> models;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(sample_data_folder() / "models", ignored)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".h5" || extension == ".safetensors") models.push_back(entry.path().string());
  }
  std::sort(models.begin(), models.end());
  arguments.models = models;
  if (!arguments.inputs.empty()) return;
  for (const fs::path& image : sample_inputs()) {
    if (arguments.inputs.size() < 4) arguments.inputs.push_back(image.string());
  }
  for (const fs::directory_entry& entry :
       fs::directory_iterator(sample_data_folder() / "inputs", ignored)) {
    if (entry.path().extension() == ".txt") arguments.inputs.push_back(entry.path().string());
  }
}

/// One entry of the index: its picture, or the reason why it is missing.
std::string index_section(const GalleryItem& item, const Figure* figure,
                          const std::vector<std::string>& files) {
  const GalleryEntry& entry = *item.entry;
  std::string out = "<section class=\"card\"><h2>" + html_escaped(entry.place) + "</h2><p>" +
                    html_escaped(entry.title) + "</p><p class=\"muted\">" +
                    html_escaped(entry.paper) + "</p>";
  if (figure == nullptr) {
    return out + "<p class=\"missing\">Not drawn: " + html_escaped(item.missing) +
           ".</p></section>\n";
  }
  std::string links;
  for (const std::string& file : files) {
    const std::string extension = fs::path(file).extension().string();
    if (extension == ".png" || extension == ".svg") {
      const int width = static_cast<int>(figure->width_mm / 25.4 * 96);  // in pixels of CSS
      out += "<img src=\"" + html_escaped(file) + "\" alt=\"" + html_escaped(figure->title) +
             "\" width=\"" + std::to_string(width) + "\">";
    }
    links += (links.empty() ? "" : " · ") + std::string("<a href=\"") + html_escaped(file) + "\">" +
             html_escaped(extension.substr(1)) + "</a>";
  }
  if (!entry.note.empty()) {
    out += "<p class=\"muted\">Here: " + html_escaped(entry.note) + ".</p>";
  }
  return out + "<p>" + html_escaped(figure->caption) + "</p><p>" + links + "</p><pre>" +
         html_escaped(figure->command) + "</pre></section>\n";
}

/// The index of the figures, with the style and the button of all pages.
std::string index_page(const std::string& sections) {
  HtmlDocument document;
  document.title = "Gallery of the papers' figures";
  document.body =
      "<header class=\"top\"><h1>Gallery of the papers' figures</h1><div class=\"tools\">"
      "<button type=\"button\" id=\"theme\" aria-label=\"Dark colours\" aria-pressed=\"false\">"
      "</button></div></header>\n<main class=\"figures\">\n" +
      sections + "</main>\n";
  document.pictures = PagePictures::beside_page;
  return html_of(document, theme_script());
}

void print_entry(const GalleryItem& item, const std::string& what) {
  std::printf("%-24s %s\n", item.entry->place.c_str(), what.c_str());
}

void print_list(const std::vector<GalleryItem>& items, bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const GalleryItem& item : items) {
    const GalleryEntry& entry = *item.entry;
    const bool missing = !item.missing.empty();
    list.push_back({{"place", entry.place},
                    {"title", entry.title},
                    {"paper", entry.paper},
                    {"figure", entry.recipe},
                    {"missing", missing ? nlohmann::ordered_json(item.missing)
                                        : nlohmann::ordered_json(nullptr)}});
    if (!json) print_entry(item, missing ? item.missing : entry.recipe);
  }
  if (json) print_json(list);
}

int run(const GalleryArguments& given) {
  GalleryArguments arguments = given;
  const StyleChoice choice = style_choice(arguments.style);
  const std::string formats = arguments.style.formats.empty() ? "pdf,png" : arguments.style.formats;
  const std::vector<fs::path> pattern = export_files("figure", formats);
  if (arguments.models.models.empty()) take_samples(arguments.models);
  FigureRequest open;
  open.width_mm = choice.width_mm;
  open.font_size_pt = choice.font_size_pt;
  open.first_layer = choice.first_layer;
  open.further_arguments = further_arguments(arguments.models);
  const std::unique_ptr<QApplication> application =
      application_for(arguments.list ? std::vector<fs::path>() : pattern, choice.style.font_family);
  {
    const TerminalProgress line;
    open.subjects = fitting_subjects(arguments.models, line.progress());
  }
  const std::vector<GalleryItem> items = gallery_items(open, arguments.data_set);
  if (arguments.list) {
    print_list(items, arguments.json);
    return 0;
  }
  std::error_code failure;
  std::vector<fs::path> read = files_read(arguments.models);
  for (const fs::path& file : files_of_locator(arguments.data_set)) read.push_back(file);
  fs::create_directories(arguments.out, failure);
  if (failure) {
    throw Error(ErrorKind::io, "the folder cannot be made: " + failure.message())
        .in_file(arguments.out);
  }
  std::string index;
  int failed = 0;
  for (GalleryItem item : items) {
    if (!item.missing.empty()) {
      print_entry(item, item.missing);
      index += index_section(item, nullptr, {});
      continue;
    }
    Figure figure;
    try {
      const TerminalProgress line;
      figure =
          dressed(make_figure(item.entry->recipe, item.request, line.progress()), choice.style);
    } catch (const Error& error) {
      // The other figures are drawn even if one fails.
      item.missing = error.what();
      ++failed;
      print_entry(item, item.missing);
      index += index_section(item, nullptr, {});
      continue;
    }
    std::vector<std::string> names;
    const fs::path base = fs::path(arguments.out) / file_name_of(*item.entry);
    FigureCommand command = command_of(item.entry->recipe, item.request);
    add_style(arguments.style, choice, command);
    command.formats = formats;
    command.out = base.string();
    figure.command = to_string(command);
    for (const fs::path& file : export_files(base.string(), formats)) {
      refuse_to_overwrite(file, read);
      refuse_to_overwrite_read(file);
      export_figure(figure, file, choice.options);
      names.push_back(file.filename().string());
    }
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
    print_entry(item, list);
    index += index_section(item, &figure, names);
  }
  const fs::path page = fs::path(arguments.out) / "index.html";
  refuse_to_overwrite(page, read);
  refuse_to_overwrite_read(page);
  write_file(page, index_page(index));
  std::printf("%-24s %s\n", "All of them", page.c_str());
  print_status(stdout, open.subjects);
  if (failed == 0) return 0;
  std::fprintf(stderr, "attnscope: %d figure%s could not be drawn; the list says why\n", failed,
               failed == 1 ? "" : "s");
  return 1;
}

}  // namespace

Action add_gallery(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<GalleryArguments>();
  added =
      parent.add_subcommand("gallery",
                            "Draw every figure of the papers that models can show\n"
                            "Figures that the models cannot show are listed with what they need.");
  add_model_argument(*added, arguments->models, true, false, "The sample models if none is given");
  add_input_option(*added, arguments->models);
  add_data_set_option(*added, arguments->data_set,
                      "Labelled images, for the figure of final features");
  added->add_option("--out", arguments->out, "The folder to write into, with an index.html")
      ->type_name("DIR");
  added->add_flag("--list", arguments->list, "List what can be drawn, without drawing it");
  add_json_flag(*added, arguments->json)->needs("--list");
  add_mechanism_options(*added, arguments->models, false);
  add_style_options(*added, arguments->style);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope gallery --out figures",
                        "attnscope gallery vit.pt vit.pt@adder --input cat.png --out figures",
                        "attnscope gallery --list"});
  return [arguments] {
    if (arguments->out.empty() && !arguments->list) {
      throw Error(ErrorKind::usage, "the gallery needs a folder to write into").about("--out");
    }
    refuse_standard_output(arguments->out, "the gallery is a folder of files");
    return run(*arguments);
  };
}

}  // namespace attnscope
