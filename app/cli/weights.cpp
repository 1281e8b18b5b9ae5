// attnscope weights: spectra of W_QK and W_OV, which need no input.
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/tables/reports.h"
#include "analysis/weights/weight_spectra.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

struct WeightsArguments {
  ModelArguments models;
  std::string of = "ov", heads = "all";
  RankThreshold threshold;
  TableFormat format = TableFormat::text;
  [[nodiscard]] WeightProduct product() const {
    return value_of(weight_product_names, of, "product of weights");
  }
};

struct WeightsOf {
  const Subject* subject = nullptr;
  std::vector<WeightSpectrum> spectra;
};

Report weights_report(const std::vector<WeightsOf>& all, const WeightsArguments& arguments) {
  auto columns = model_columns<WeightsOf>();
  append(columns, {{csv_only("of"), [&arguments](const WeightsOf&) { return arguments.of; }},
                   {{.name = "heads"}, [&arguments](const WeightsOf& one) {
                      return table_cell(weight_heads_report(one.spectra, arguments.threshold));
                    }}});
  return report_on(all, std::move(columns));
}

std::string weights_as_text(const std::vector<WeightsOf>& all, const WeightsArguments& arguments) {
  std::string text;
  for (const WeightsOf& one : all) {
    text += weights_in_words(one.subject->label, arguments.product()) +
            report_as_text(weight_heads_report(one.spectra, arguments.threshold));
  }
  return text;
}

int run(const WeightsArguments& arguments) {
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  std::vector<WeightsOf> all;
  const std::vector<Subject> subjects = make_subjects_without_traces(arguments.models);
  for (const Subject& subject : subjects) {
    const TerminalProgress line;
    all.push_back({&subject, weight_spectra(*subject.model, arguments.product(),
                                            arguments.threshold, line.progress())});
    keep_heads(all.back().spectra, heads, &WeightSpectrum::head);
  }
  const auto report = [&] { return weights_report(all, arguments); };
  print_results(
      arguments.format, subjects, [&] { return weights_as_text(all, arguments); },
      [&] {
        nlohmann::ordered_json json = {{"of", arguments.of}};
        add_threshold(json, arguments.threshold);
        json["models"] = report_as_json(report());
        return json;
      },
      report);
  return 0;
}

}  // namespace

Action add_weights(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<WeightsArguments>();
  added = parent.add_subcommand("weights",
                                "Spectra of each head's weight products, without input\n"
                                "The products are W_QK = W_Q W_Kᵀ and W_OV = W_V W_O [D, D], of "
                                "rank d at most.");
  add_model_argument(*added, arguments->models, true, true);
  add_value_option(*added, "--of", arguments->of, "Product of weights", "qk|ov")
      ->check(CLI::IsMember(names_of(weight_product_names)));
  add_heads_option(*added, arguments->heads);
  add_threshold_options(*added, arguments->threshold);
  add_format_options(*added, arguments->format, "a row for each singular value");
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope weights vit.safetensors --of qk",
                        "attnscope weights gpt2.safetensors --of ov --csv >ov.csv"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
