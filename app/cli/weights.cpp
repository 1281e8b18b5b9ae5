// attnscope weights: spectra of W_QK and W_OV, which need no input.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/report/report.h"
#include "analysis/weights/weight_spectra.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
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
  double threshold = 0.9;
  TableFormat format = TableFormat::text;
};

struct WeightsOf {
  Subject subject;
  std::vector<WeightSpectrum> spectra;
};

Report values_report(const WeightSpectrum& head) {
  const std::vector<double>& values = head.singular_values;
  return {{{.name = "index",
            .value = [](std::size_t row) { return static_cast<std::int64_t>(row) + 1; }},
           {.name = "singular_value", .value = [&values](std::size_t row) { return values[row]; }}},
          values.size()};
}

Report heads_report(const WeightsOf& one, double threshold) {
  using Head = WeightSpectrum;
  const auto greatest = [](const Head& head) { return head.singular_values.front(); };
  const auto least = [](const Head& head) { return head.singular_values.back(); };
  return report_of<Head>(
      one.spectra,
      {{{.name = "layer", .title = "layer", .width = 5}, &Head::layer},
       {{.name = "head", .title = "head", .width = 5}, &Head::head},
       {json_only("singular_values"),
        [](const Head& head) { return json_cell(head.singular_values); }},
       {csv_only("singular_values"),
        [](const Head& head) { return table_cell(values_report(head)); }},
       {{.title = "σ1", .width = 8, .decimals = 3}, greatest},
       {{.title = "σd", .width = 8, .decimals = 3}, least},
       {{.name = "equivalent_rank", .title = "rank at " + rounded_text(threshold), .decimals = 0},
        &Head::equivalent_rank},
       {{.name = "effective_rank", .title = "effective", .decimals = 1}, &Head::effective_rank},
       {{.name = "stable_rank", .title = "stable", .decimals = 1}, &Head::stable_rank},
       {{.name = "copying", .title = "copying", .decimals = 3}, &Head::copying}});
}

Report weights_report(const std::vector<WeightsOf>& all, const WeightsArguments& arguments) {
  return report_of<WeightsOf>(
      all,
      {{{.name = "model"}, [](const WeightsOf& one) { return one.subject.label; }},
       {csv_only("of"), [&arguments](const WeightsOf&) { return arguments.of; }},
       {json_only("status"),
        [](const WeightsOf& one) { return json_cell(status_as_json(status_of(one.subject))); }},
       {{.name = "heads"}, [&arguments](const WeightsOf& one) {
          return table_cell(heads_report(one, arguments.threshold));
        }}});
}

void print_weights(const WeightsOf& one, const WeightsArguments& arguments) {
  std::printf("%s: W_%s of each head, rank at most d\n%s", one.subject.label.c_str(),
              arguments.of == "qk" ? "QK = W_Q W_Kᵀ" : "OV = W_V W_O",
              report_as_text(heads_report(one, arguments.threshold)).c_str());
}

int run(const WeightsArguments& arguments) {
  const WeightProduct product = value_of(weight_product_names, arguments.of, "product of weights");
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  std::vector<WeightsOf> all;
  std::vector<Subject> subjects = make_subjects_without_traces(arguments.models);
  for (const Subject& subject : subjects) {
    const TerminalProgress line;
    all.push_back(
        {subject, weight_spectra(*subject.model, product, arguments.threshold, line.progress())});
    keep_heads(all.back().spectra, heads, &WeightSpectrum::head);
  }
  if (arguments.format == TableFormat::json) {
    print_json({{"of", arguments.of},
                {"threshold", arguments.threshold},
                {"models", report_as_json(weights_report(all, arguments))}});
    return 0;
  }
  const bool text = arguments.format == TableFormat::text;
  if (!text) print_report(weights_report(all, arguments), arguments.format);
  for (const WeightsOf& one : all) {
    if (text) print_weights(one, arguments);
  }
  print_status(text ? stdout : stderr, subjects);
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
  added->add_option("--of", arguments->of, "Product of weights")
      ->check(CLI::IsMember(names_of(weight_product_names)))
      ->type_name("qk|ov")
      ->capture_default_str();
  add_heads_option(*added, arguments->heads);
  added
      ->add_option("--threshold", arguments->threshold,
                   "Threshold of the equivalent rank, above 0, at most 1")
      ->check(CLI::Range(1e-6, 1.0))
      ->type_name("T")
      ->capture_default_str();
  add_format_options(*added, arguments->format, "a row for each singular value");
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope weights vit.safetensors --of qk",
                        "attnscope weights gpt2.safetensors --of ov --csv >ov.csv"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
