// attnscope first-minute: the window's first view as files and a table, without a display.
#include <QApplication>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "analysis/baselines/null_model.h"
#include "analysis/figure/recipe.h"
#include "analysis/report/report.h"
#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "app/render/application.h"
#include "app/render/render.h"
#include "app/session/sample_data.h"
#include "core/error.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

/// A figure of the first minute and its settings.
struct FirstFigure {
  const char* name;
  double width_mm;
  ParameterValues settings;
};

const std::vector<FirstFigure>& first_figures() {
  static const std::vector<FirstFigure> list = {
      {"cumulative-spectrum", 84, {}},
      {"rank-by-layer", 84, {}},
      {"attention-maps", 84, {}},
      {"attention-overlay", 84, {}},
  };
  return list;
}

ModelArguments sample_arguments(const std::string& input) {
  ModelArguments arguments;
  for (const fs::path& model : first_minute_models()) arguments.models.push_back(model.string());
  if (!input.empty()) {
    arguments.inputs.push_back(input);
  } else if (const std::vector<fs::path> images = sample_inputs(); !images.empty()) {
    arguments.inputs.push_back(images.front().string());
  }
  if (arguments.models.empty() || arguments.inputs.empty()) {
    throw Error(ErrorKind::io, "the sample models and inputs were not found")
        .in_file(sample_data_folder())
        .remedy("set ATTNSCOPE_SAMPLE_DATA to the folder sample_data of the sources");
  }
  return arguments;
}

void print_ranks(const std::vector<Subject>& subjects, const Figure& spectrum) {
  const auto rank = [&spectrum](const char* with) {
    return [&spectrum, with](const Subject& subject) {
      const auto found = spectrum.numbers.find("equivalent_rank/" + subject.label + with);
      return found == spectrum.numbers.end() ? ReportValue() : ReportValue(found->second.at(0));
    };
  };
  const Report ranks = report_of<Subject>(
      subjects, {{{.title = "model", .left = true}, &Subject::label},
                 {{.title = "A", .width = 10, .decimals = 0}, rank("")},
                 {{.title = "A + I", .width = 10, .decimals = 0}, rank(" + I")},
                 {{.title = "A / null", .width = 10, .decimals = 3},
                  [](const Subject& subject) { return mean_null_rank(*subject.trace).ratio(); }}});
  std::printf("Equivalent rank at 0.9 of the mean spectrum, N = %lld\n%s",
              static_cast<long long>(subjects.front().trace->tokens()),
              report_as_text(ranks).c_str());
}

int run(const std::string& out, const std::string& input) {
  const std::unique_ptr<QApplication> application = drawing_application();
  FigureRequest request;
  const ModelArguments samples = sample_arguments(input);
  std::vector<std::pair<Figure, std::string>> figures;
  {
    const TerminalProgress line;
    request.subjects = make_subjects(samples, {}, line.progress().part(0, 0.5));
    double done = 0.5;
    for (const FirstFigure& first : first_figures()) {
      request.width_mm = first.width_mm;
      request.settings = first.settings;
      figures.emplace_back(
          make_figure(first.name, request, line.progress().part(done, done + 0.12)), first.name);
      done += 0.12;
    }
  }
  std::error_code failure;
  fs::create_directories(out, failure);
  if (failure) {
    throw Error(ErrorKind::io, "the folder cannot be made: " + failure.message()).in_file(out);
  }
  for (const auto& [figure, name] : figures) {
    for (const char* extension : {".pdf", ".png"}) {
      const fs::path file = fs::path(out) / (name + extension);
      refuse_to_overwrite(file, files_read(samples));
      refuse_to_overwrite_read(file);
      Figure written = figure;
      written.command += " --out " + name + extension;
      export_figure(written, file);
      std::printf("%s\n", file.c_str());
    }
  }
  print_ranks(request.subjects, figures.front().first);
  return 0;
}

}  // namespace

Action add_first_minute(CLI::App& parent, CLI::App*& added) {
  struct Arguments {
    std::string out = "attnscope-figures";
    std::string input;
  };
  auto arguments = std::make_shared<Arguments>();
  added = parent.add_subcommand("first-minute", "Compare the two sample models: figures and ranks");
  add_value_option(*added, "--out", arguments->out, "The folder to write into", "DIR");
  added->add_option("--input", arguments->input, "Image instead of the first sample")
      ->type_name("X");
  set_examples(*added, {"attnscope first-minute --out figures"});
  return [arguments] {
    refuse_standard_output(arguments->out, "the figures are files of a folder");
    return run(arguments->out, arguments->input);
  };
}

}  // namespace attnscope
