// attnscope frequencies: what heads use of rotary frequencies, what maps let pass of spatial ones.
#include "analysis/frequencies/frequencies.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/tables/reports.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

struct FrequencyArguments {
  ModelArguments models;
  std::string of = "filter-response", profile = "radius", identity = "as-is";
  std::string layers = "all", heads = "all";
  TableFormat format = TableFormat::text;
};

struct FrequenciesOf {
  const Subject* subject = nullptr;
  FrequencyRows rows;
};

FrequencyRequest frequency_request(const FrequencyArguments& arguments) {
  return {value_of(frequency_analysis_names, arguments.of, "analysis by frequency"),
          value_of(frequency_profile_names, arguments.profile, "profile over frequencies"),
          value_of(identity_view_names, arguments.identity, "view of the identity mapping"),
          index_list(arguments.layers, "--layers"), index_list(arguments.heads, "--heads")};
}

int run(const FrequencyArguments& arguments) {
  const FrequencyRequest request = frequency_request(arguments);
  check_frequencies(request, "--");
  std::vector<Subject> subjects;
  std::vector<FrequenciesOf> all;
  {
    const TerminalProgress line;
    TraceRequest recorded;
    request_for(request, recorded);
    subjects = make_subjects(arguments.models, recorded, line.progress().part(0, 0.6));
    for (const Subject& subject : subjects) {
      all.push_back({&subject, frequency_rows(subject, request, line.progress().part(0.6, 1))});
    }
  }
  const auto table_of = [&request](const FrequenciesOf& one) {
    return frequencies_report(*one.subject->trace, one.rows, request);
  };
  const auto report = [&] {
    auto columns = model_columns<FrequenciesOf>();
    append(columns, {{{.name = "rows"},
                      [&](const FrequenciesOf& one) { return table_cell(table_of(one)); }}});
    return report_on(all, std::move(columns));
  };
  const auto text = [&] {
    std::string shown;
    for (const FrequenciesOf& one : all) {
      const Report table = table_of(one);
      shown += (shown.empty() ? "" : "\n") + one.subject->label + ": " +
               frequencies_in_words(request) + "\n\n" + report_as_text(table) + "\n" +
               report_legend(table);
    }
    return shown;
  };
  print_results(
      arguments.format, subjects, text,
      [&] {
        return nlohmann::ordered_json{{"of", arguments.of},
                                      {"profile", arguments.profile},
                                      {"identity", arguments.identity},
                                      {"models", report_as_json(report())}};
      },
      report);
  return 0;
}

}  // namespace

Action add_frequencies(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<FrequencyArguments>();
  added = parent.add_subcommand(
      "frequencies",
      "Use of rotary and filtering of spatial frequencies\n"
      "rotary-use is the mean norm of queries times that of keys for each pair of channels that is "
      "rotated, by its wavelength. filter-response is what the maps let pass of the frequencies "
      "over the grid of patches, amplitude the log-amplitude of the tokens there, after each "
      "layer.");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_value_option(*added, "--of", arguments->of,
                   "Analysis: " + name_list(names_of(frequency_analysis_names)), "WHAT")
      ->check(CLI::IsMember(names_of(frequency_analysis_names)));
  add_value_option(*added, "--profile", arguments->profile,
                   "Frequencies over the grid that are averaged: rings of equal radius, or those "
                   "along the diagonal alone",
                   name_list(names_of(frequency_profile_names), {}, "|"));
  add_value_option(*added, "--identity", arguments->identity,
                   "View of the identity mapping, with --of filter-response: the maps as they are, "
                   "without their I, or with I",
                   name_list(names_of(identity_view_names), {}, "|"));
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_format_options(*added, arguments->format, "a row for each frequency");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope frequencies vit.safetensors --input cat.png",
                "attnscope frequencies vit.safetensors --input cat.png --of amplitude --csv",
                "attnscope frequencies llama.gguf --input essay.txt --of rotary-use --layers 5",
                "attnscope figure rotary-use llama.gguf --input essay.txt --out use.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
