// attnscope heads: the measures that papers report for each attention head.
#include <cstdio>
#include <memory>

#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/heads_report.h"
#include "app/cli/index_list.h"
#include "app/cli/json_output.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"

namespace attnscope {

namespace {

struct HeadsArguments {
  ModelArguments models;
  HeadOptions options;
  AnalysedArgument analysed;
  std::string layers = "all", heads = "all";
  bool json = false;
  bool csv = false;
};

HeadsReport heads_report(const HeadsArguments& arguments, const Progress& progress) {
  HeadsReport report;
  report.options = arguments.options;
  report.options.layers = index_list(arguments.layers, "--layers");
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  TraceRequest request;
  request.queries_keys_values = true;
  request.layers = report.options.layers;
  report.options.analysed = analysed_of(arguments.analysed);
  request_analysed(report.options.analysed, request);
  report.subjects = make_subjects(arguments.models, request, progress.part(0, 0.6));
  const double share = 0.4 / static_cast<double>(report.subjects.size());
  for (const Subject& subject : report.subjects) {
    const double first = 0.6 + share * static_cast<double>(report.tables.size());
    report.tables.push_back(
        head_table(subject, report.options, progress.part(first, first + share)));
    keep_heads(report.tables.back().rows, heads, &HeadRow::head);
  }
  return report;
}

void print(const HeadsReport& report, const HeadsArguments& arguments) {
  write_to_standard_output(arguments.json  ? heads_as_json(report)
                           : arguments.csv ? heads_as_csv(report)
                                           : heads_as_text(report));
  if (!arguments.json) print_status(arguments.csv ? stderr : stdout, report.subjects);
}

}  // namespace

Action add_heads(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<HeadsArguments>();
  added = parent.add_subcommand(
      "heads", "Entropy, sinks, distances, ranks and norms of every attention head");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  const auto add_share = [&](const char* name, double& value, const char* what) {
    added->add_option(name, value, what)->type_name("T")->capture_default_str();
  };
  add_share("--threshold", arguments->options.threshold,
            "Threshold of the equivalent rank, above 0, at most 1");
  add_share("--sink", arguments->options.sink,
            "Share of the attention above which a key is a sink");
  add_share(
      "--mass", arguments->options.mass,
      "Share of the class token's attention to patches that the counted strongest patches hold");
  added->add_flag("--baselines", arguments->options.baselines,
                  "Also report ranks of null models: maps with shuffled rows, and rank / null");
  add_analysed_options(*added, arguments->analysed);
  CLI::Option* json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each head")->excludes(json);
  add_mechanism_options(*added, arguments->models);
  add_channel_option(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope heads vit.safetensors --input cat.png",
                        "attnscope heads gpt2.safetensors --input text:To-be --csv >heads.csv",
                        "attnscope heads vit.safetensors --input cat.png --of seen-by-values",
                        "attnscope heads softmax.h5 adder.h5 --input boot.png --sink 0.5 --json"});
  return [arguments] {
    const HeadsReport report = [&] {
      const TerminalProgress line;
      return heads_report(*arguments, line.progress());
    }();
    print(report, *arguments);
    return 0;
  };
}

}  // namespace attnscope
