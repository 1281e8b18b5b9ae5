// attnscope export-html: maps, rows, spectra and ranks of models as one page of HTML.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "analysis/html/trace_page.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"
#include "core/shown_text.h"
#include "core/trace/trace_file.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

struct ExportHtmlArguments {
  ModelArguments models;
  std::vector<std::string> labels;
  std::string identity = "as-is", layers = "all", heads = "all";
  RankThreshold threshold;
  std::string title, out;
};

/// Throws Error(usage) unless --out can be written and is not read.
void check_out(const ExportHtmlArguments& arguments) {
  const fs::path out = arguments.out;
  std::error_code ignored;
  const bool is_stream =
      arguments.out == "-" || (fs::exists(out, ignored) && !fs::is_regular_file(out, ignored));
  if (!is_stream && out.extension() != ".html" && out.extension() != ".htm") {
    throw Error(ErrorKind::usage, "the name of a page of HTML ends in .html")
        .about("--out")
        .expected(".html, .htm, or - for standard output")
        .found(arguments.out);
  }
  const std::vector<fs::path> read = files_read(arguments.models);
  if (!is_stream) refuse_to_overwrite(out, read);
}

/// Throws Error(usage) unless there is a label for each subject, or none.
void take_labels(std::vector<Subject>& subjects, const std::vector<std::string>& labels) {
  if (labels.empty()) return;
  if (labels.size() != subjects.size()) {
    throw Error(ErrorKind::usage, "there must be one label per model and input, or none")
        .about("--label")
        .expected(std::to_string(subjects.size()))
        .found(std::to_string(labels.size()));
  }
  for (std::size_t i = 0; i < labels.size(); ++i) subjects[i].label = labels[i];
}

/// The files of traces, in the order of the subjects; empty for a subject with a model.
std::vector<std::string> sources_of(const std::vector<Subject>& subjects,
                                    const ModelArguments& arguments) {
  std::vector<std::string> sources;
  auto next = arguments.models.begin();
  for (const Subject& subject : subjects) {
    std::string source;
    if (subject.model == nullptr) {
      next = std::find_if(next, arguments.models.end(),
                          [](const std::string& name) { return is_trace_file(name); });
      if (next != arguments.models.end()) source = *next++;
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

int run(const ExportHtmlArguments& arguments) {
  check_out(arguments);
  TracePageOptions options;
  options.shown = {index_list(arguments.layers, "--layers"), index_list(arguments.heads, "--heads"),
                   arguments.threshold};
  options.identity =
      value_of(identity_view_names, arguments.identity, "view of the identity mapping");
  options.title = arguments.title;
  options.out = arguments.out;
  FigureRequest request;
  std::string page;
  {
    const TerminalProgress line;
    TraceRequest recorded;
    recorded.factors = true;
    recorded.large_maps = TraceRequest::LargeMaps::computed;
    request.subjects = make_subjects(arguments.models, recorded, line.progress().part(0, 0.5));
    request.sources = sources_of(request.subjects, arguments.models);
    take_labels(request.subjects, arguments.labels);
    // MODEL arguments of subjects name their mechanisms and channels.
    ModelArguments further = arguments.models;
    further.mechanism.clear();
    further.settings.clear();
    further.channel = "mean";
    request.further_arguments = further_arguments(further);
    page = trace_page(request, options, line.progress().part(0.5, 1));
  }
  if (arguments.out != "-") refuse_to_overwrite_read(arguments.out);
  write_output(arguments.out, ".html", [&](const fs::path& file) { write_file(file, page); });
  std::fprintf(lines_beside(arguments.out), "%s: %zu model%s, %.1f MB\n",
               arguments.out == "-" ? "standard output" : shown_text(arguments.out).c_str(),
               request.subjects.size(), request.subjects.size() == 1 ? "" : "s",
               static_cast<double>(page.size()) / 1e6);
  print_status(lines_beside(arguments.out), request.subjects);
  return 0;
}

}  // namespace

Action add_export_html(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<ExportHtmlArguments>();
  added = parent.add_subcommand(
      "export-html",
      "Write maps, rows and spectra as one page of HTML\n"
      "A browser opens it from disk, without a network: maps to zoom into, rows on the picture or "
      "the text, the cumulative spectrum, ranks. Spectra are exact, maps are rounded.");
  add_model_argument(*added, arguments->models, true, true,
                     "Several are shown next to each other, with one selection");
  add_input_option(*added, arguments->models);
  added->add_option("--out", arguments->out, "The page to write; - for standard output")
      ->required()
      ->type_name("FILE");
  add_value_option(*added, "--identity", arguments->identity,
                   "View of the identity mapping in which the page opens: the maps as they are, "
                   "without their I, or with I added if they have none (Adder, Eq. 20)",
                   "as-is|without|with");
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_threshold_options(*added, arguments->threshold);
  added->add_option("--title", arguments->title, "Title of the page (the models' labels)")
      ->type_name("WORDS");
  added
      ->add_option("--label", arguments->labels,
                   "Label of each model on the page, in their order; may be repeated")
      ->allow_extra_args(false)
      ->type_name("WORDS");
  add_mechanism_options(*added, arguments->models);
  add_channel_option(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope export-html vit.safetensors --input cat.png --out vit.html",
                "attnscope export-html softmax.h5 adder.h5 --input boot.png --out both.html",
                "attnscope export-html trace.h5 --layers 0,5 --identity without --out trace.html"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
