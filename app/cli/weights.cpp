// attnscope weights: spectra of W_QK, W_OV and whole matrices, and composition of heads, which need
// no input.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <variant>

#include "analysis/tables/reports.h"
#include "analysis/weights/weight_analysis.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

struct WeightsArguments {
  ModelArguments models;
  std::string of = "ov", heads = "all", minus;
  RankThreshold threshold;
  std::size_t top = 20;
  TableFormat format = TableFormat::text;
};

struct WeightsOf {
  const Subject* subject = nullptr;
  WeightRows rows;
};

/// Keeps the rows of these heads; of pairs, those between them.
void keep_rows(WeightRows& rows, WeightAnalysis of, const std::vector<std::int64_t>& heads) {
  if (heads.empty()) return;
  if (auto* const pairs = std::get_if<std::vector<HeadComposition>>(&rows)) {
    keep_heads(*pairs, heads, &HeadComposition::from_head);
    return keep_heads(*pairs, heads, &HeadComposition::to_head);
  }
  auto* const spectra = std::get_if<std::vector<WeightSpectrum>>(&rows);
  if (!spectra || of == WeightAnalysis::qk_layer || of == WeightAnalysis::ov_layer) {
    throw Error(ErrorKind::usage, "the rows are not of single heads")
        .about("--heads")
        .expected("--of qk, ov or a composition")
        .found("--of " + std::string(name_of(weight_analysis_names, of)));
  }
  keep_heads(*spectra, heads, &WeightSpectrum::head);
}

Report models_report(const std::vector<WeightsOf>& all, const WeightRequest& request,
                     const std::string& of) {
  auto columns = model_columns<WeightsOf>();
  append(columns, {{csv_only("of"), [&of](const WeightsOf&) { return of; }},
                   {{.name = name_of_weight_rows(request.of)}, [&request](const WeightsOf& one) {
                      return table_cell(weights_report(one.rows, request));
                    }}});
  return report_on(all, std::move(columns));
}

/// The name of the subtracted model next to `label`: as it was given if both names are equal.
std::string name_of_subtracted(const std::vector<Subject>& subtracted, const std::string& label,
                               const std::string& given) {
  return subtracted.empty() || subtracted.front().label == label ? given : subtracted.front().label;
}

std::string weights_as_text(const std::vector<WeightsOf>& all, const WeightRequest& request,
                            const std::vector<Subject>& subtracted,
                            const WeightsArguments& arguments) {
  std::string text;
  for (const WeightsOf& one : all) {
    const std::string& label = one.subject->label;
    Report report = weights_report(one.rows, request);
    const std::size_t rows = report.rows;
    if (is_composition(request.of)) report.rows = std::min(rows, arguments.top);
    text += weights_in_words(label, one.subject->model->spec(), request,
                             name_of_subtracted(subtracted, label, arguments.minus)) +
            report_as_text(report);
    if (report.rows < rows) {
      text += "the strongest " + std::to_string(report.rows) + " of " + std::to_string(rows) +
              " pairs; --top shows more, --csv and --json have all\n";
    }
    const std::string legend = report_legend(report);
    if (!legend.empty()) text += "\n" + legend;
    if (&one != &all.back()) text += "\n";
  }
  return text;
}

int run(const WeightsArguments& arguments) {
  const std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  WeightRequest request = {
      .of = value_of(weight_analysis_names, arguments.of, "analysis of weights"),
      .threshold = arguments.threshold};
  std::vector<Subject> subtracted;
  if (!arguments.minus.empty()) {
    ModelArguments other = arguments.models;
    other.models = {arguments.minus};
    subtracted = make_subjects_without_traces(other);
    request.minus = subtracted.front().model.get();
  }
  std::vector<WeightsOf> all;
  const std::vector<Subject> subjects = make_subjects_without_traces(arguments.models);
  for (const Subject& subject : subjects) {
    const TerminalProgress line;
    all.push_back({&subject, weight_rows(*subject.model, request, line.progress())});
    keep_rows(all.back().rows, request.of, heads);
  }
  const auto report = [&] { return models_report(all, request, arguments.of); };
  print_results(
      arguments.format, subjects,
      [&] { return weights_as_text(all, request, subtracted, arguments); },
      [&] {
        nlohmann::ordered_json json = {{"of", arguments.of}};
        if (request.minus) json["minus"] = arguments.minus;
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
  added = parent.add_subcommand(
      "weights",
      "Spectra and composition of weights, without input\n"
      "qk and ov are the products W_QK = W_Q W_Kᵀ and W_OV = W_V W_O [D, D] of each head, of rank "
      "d "
      "at most; qk-layer and ov-layer are their sums over the heads of a layer. The compositions "
      "say how much of what a head writes a later head reads by its queries, keys or values. "
      "matrices are the weight matrices of the layers.");
  add_model_argument(*added, arguments->models, true, true);
  add_value_option(*added, "--of", arguments->of,
                   "Analysed weights: " + name_list(names_of(weight_analysis_names)), "WEIGHTS")
      ->check(CLI::IsMember(names_of(weight_analysis_names)));
  added
      ->add_option("--minus", arguments->minus,
                   "Model whose matrices are subtracted, with --of matrices")
      ->type_name("MODEL");
  add_heads_option(*added, arguments->heads);
  add_threshold_options(*added, arguments->threshold);
  add_value_option(*added, "--top", arguments->top, "Number of pairs of heads in the text", "N");
  add_format_options(*added, arguments->format,
                     "a row for each singular value, pair of heads or matrix");
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope weights vit.safetensors --of qk",
                        "attnscope weights gpt2.safetensors --of ov --csv >ov.csv",
                        "attnscope weights gpt2.safetensors --of k-composition --top 10",
                        "attnscope weights tuned.pt --minus base.pt --of matrices --share energy"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
