// attnscope experts: the experts of a mixture that each token passes through.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/experts/token_experts.h"
#include "analysis/tables/expert_report.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

struct ExpertArguments {
  ModelArguments models;
  std::string layers = "all";
  TableFormat format = TableFormat::text;
};

struct RoutedModel {
  const Subject* subject = nullptr;
  std::vector<LayerExperts> layers;

  [[nodiscard]] Report layers_table() const {
    return expert_layers_report(*subject->trace, layers);
  }
  [[nodiscard]] Report tokens_table() const {
    return token_experts_report(*subject->trace, layers);
  }
};

std::string as_text(const std::vector<RoutedModel>& all) {
  std::string text;
  for (const RoutedModel& one : all) {
    const Report layers = one.layers_table();
    text += (text.empty() ? "" : "\n") + shown_text(one.subject->label) + "\n" +
            experts_in_words(one.layers) + "\n" + report_as_text(layers) + "\n" +
            report_as_text(one.tokens_table()) + "\n" + report_legend(layers);
  }
  return text;
}

Report as_report(const std::vector<RoutedModel>& all) {
  std::vector<ColumnOf<RoutedModel>> columns = model_columns<RoutedModel>();
  append(columns, {{json_only("layers"),
                    [](const RoutedModel& one) { return table_cell(one.layers_table()); }},
                   {{.name = "tokens"},
                    [](const RoutedModel& one) { return table_cell(one.tokens_table()); }}});
  return report_on(all, std::move(columns));
}

int run(const ExpertArguments& arguments) {
  std::vector<Subject> subjects;
  std::vector<RoutedModel> all;
  {
    const TerminalProgress line;
    TraceRequest recorded;
    recorded.implied_maps = false;
    recorded.quantities = true;
    recorded.layers = index_list(arguments.layers, "--layers");
    subjects = make_subjects(arguments.models, recorded, line.progress());
    for (const Subject& subject : subjects) {
      all.push_back({&subject, layer_experts(*subject.trace, recorded.layers)});
    }
  }
  print_results(
      arguments.format, subjects, [&all] { return as_text(all); },
      [&all] {
        return nlohmann::ordered_json{{"models", report_as_json(as_report(all))}};
      },
      [&all] { return as_report(all); });
  return 0;
}

}  // namespace

Action add_experts(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<ExpertArguments>();
  added = parent.add_subcommand("experts",
                                "Experts of a mixture that each token passes through\n"
                                "Each layer's experts with their loads, and for every token the "
                                "experts that its router chose "
                                "and their weights in the sum.");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_layers_option(*added, arguments->layers);
  add_format_options(*added, arguments->format, "a row for each layer, token and expert");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope experts mixtral.safetensors --input story.txt --layers 0,15",
                        "attnscope experts qwen3-30b-a3b.gguf --input \"text:To be, or not\" --csv",
                        "attnscope figure token-experts mixtral.safetensors --input story.txt "
                        "--out experts.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
