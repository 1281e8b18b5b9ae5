// attnscope weights: spectra of W_QK and W_OV, which need no input.
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/weights/weight_spectra.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

struct WeightsArguments {
  ModelArguments models;
  std::string of = "ov", heads = "all";
  double threshold = 0.9;
  bool json = false, csv = false;
};

struct WeightsOf {
  Subject subject;
  std::vector<WeightSpectrum> spectra;
};

void print_weights(const WeightsOf& one, const WeightsArguments& arguments) {
  std::printf("%s: W_%s of each head, rank at most d\n", one.subject.label.c_str(),
              arguments.of == "qk" ? "QK = W_Q W_Kᵀ" : "OV = W_V W_O");
  std::printf("layer head      σ1      σd  rank at %-4s  effective  stable  copying\n",
              rounded_text(arguments.threshold).c_str());
  for (const WeightSpectrum& head : one.spectra) {
    std::printf(
        "%5lld %4lld %s %s %s %s %s %s\n", static_cast<long long>(head.layer),
        static_cast<long long>(head.head), number_cell(head.singular_values.front(), 7, 3).c_str(),
        number_cell(head.singular_values.back(), 7, 3).c_str(),
        number_cell(head.equivalent_rank, 9, 0).c_str(),
        number_cell(head.effective_rank, 12, 1).c_str(),
        number_cell(head.stable_rank, 7, 1).c_str(), number_cell(head.copying, 8, 3).c_str());
  }
}

void print_weights_csv(const WeightsOf& one, const WeightsArguments& arguments) {
  const auto text = [](double value) { return std::isnan(value) ? "" : rounded_text(value, 9); };
  for (const WeightSpectrum& head : one.spectra) {
    for (std::size_t i = 0; i < head.singular_values.size(); ++i) {
      std::printf("%s,%s,%lld,%lld,%zu,%s,%s,%s,%s,%s\n", csv_field(one.subject.label).c_str(),
                  arguments.of.c_str(), static_cast<long long>(head.layer),
                  static_cast<long long>(head.head), i + 1, text(head.singular_values[i]).c_str(),
                  text(head.equivalent_rank).c_str(), text(head.effective_rank).c_str(),
                  text(head.stable_rank).c_str(), text(head.copying).c_str());
    }
  }
}

nlohmann::ordered_json weights_json(const WeightsOf& one) {
  using nlohmann::ordered_json;
  ordered_json heads = ordered_json::array();
  for (const WeightSpectrum& head : one.spectra) {
    heads.push_back(
        {{"layer", head.layer},
         {"head", head.head},
         {"singular_values", head.singular_values},
         {"equivalent_rank", head.equivalent_rank},
         {"effective_rank", head.effective_rank},
         {"stable_rank", head.stable_rank},
         {"copying", std::isnan(head.copying) ? ordered_json() : ordered_json(head.copying)}});
  }
  return {{"model", one.subject.label},
          {"status", status_as_json(status_of(one.subject))},
          {"heads", std::move(heads)}};
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
  if (arguments.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const WeightsOf& one : all) list.push_back(weights_json(one));
    print_json(
        {{"of", arguments.of}, {"threshold", arguments.threshold}, {"models", std::move(list)}});
    return 0;
  }
  if (arguments.csv) {
    std::printf(
        "model,of,layer,head,index,singular_value,equivalent_rank,effective_rank,stable_rank,"
        "copying\n");
  }
  for (const WeightsOf& one : all) {
    if (arguments.csv) {
      print_weights_csv(one, arguments);
    } else {
      print_weights(one, arguments);
    }
  }
  print_status(arguments.csv ? stderr : stdout, subjects);
  return 0;
}

}  // namespace

Action add_weights(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<WeightsArguments>();
  added = parent.add_subcommand("weights",
                                "Spectra of the weight products of each head, which need no input: "
                                "W_QK = W_Q W_Kᵀ and W_OV = W_V W_O [D, D], of rank d at most");
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
  CLI::Option* const json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each singular value")
      ->excludes(json);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope weights vit.safetensors --of qk",
                        "attnscope weights gpt2.safetensors --of ov --csv >ov.csv"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
