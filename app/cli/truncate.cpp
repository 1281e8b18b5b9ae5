// attnscope truncate: how a model's answers change when the rank of its maps is reduced.
#include <memory>
#include <string>
#include <vector>

#include "analysis/intervention/truncation.h"
#include "app/cli/analysed_argument.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/study_report.h"
#include "app/cli/subcommand.h"

namespace attnscope {

namespace {

struct TruncateArguments {
  StudyArguments study;
  std::string ranks, layers = "all", heads = "all";
  std::string cut = "without-identity", rows = "as-is";
  RankThreshold threshold;
  bool baselines = false;
};

TruncationRequest truncation_request(const TruncateArguments& arguments) {
  TruncationRequest request;
  if (!arguments.ranks.empty()) request.ranks = index_list(arguments.ranks, "--ranks");
  request.where = {index_list(arguments.layers, "--layers"),
                   index_list(arguments.heads, "--heads")};
  request.threshold = arguments.threshold;
  request.baselines = arguments.baselines;
  const bool both = arguments.cut == "both";
  request.cuts.clear();
  if (both || arguments.cut == "without-identity") {
    request.cuts.push_back(TruncatedMap::without_identity);
  }
  if (both || arguments.cut == "with-identity") {
    request.cuts.push_back(TruncatedMap::with_identity);
  }
  request.renormalise.clear();
  if (arguments.rows != "renormalised") request.renormalise.push_back(false);
  if (arguments.rows != "as-is") request.renormalise.push_back(true);
  return request;
}

int run(const TruncateArguments& arguments) {
  const TruncationRequest truncation = truncation_request(arguments);
  StudyRequest request = study_request(arguments.study);
  const std::vector<Subject> subjects = study_subjects(arguments.study);
  add_truncation(subjects, truncation, request);
  return answer_study(arguments.study, request, subjects);
}

}  // namespace

Action add_truncate(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<TruncateArguments>();
  added = parent.add_subcommand(
      "truncate",
      "Reduce the rank of the maps and measure the effect\n"
      "Each map is replaced by its best approximation of rank r, A_r = Σ_{k≤r} σ_k u_k v_kᵀ. In "
      "language models A_r is set to 0 above the diagonal again, so that no token sees what it "
      "predicts: blocks below the diagonal then have rank r at most, the map may have more.");
  add_study_options(*added, arguments->study);
  added
      ->add_option("--ranks", arguments->ranks,
                   "Ranks that the maps are truncated to, such as 1,2,4-6 (powers of two below the "
                   "number of tokens)")
      ->type_name("N,…");
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  add_value_option(*added, "--cut", arguments->cut,
                   "Truncated part of an attention with I: A, which runs as A_r + I; A + I, which "
                   "runs as (A + I)_r; or both next to each other",
                   "without-identity|with-identity|both")
      ->check(CLI::IsMember({"without-identity", "with-identity", "both"}));
  add_value_option(*added, "--rows", arguments->rows,
                   "Rows of the truncated maps: left as they are, scaled to their former sums, or "
                   "both next to each other",
                   "as-is|renormalised|both")
      ->check(CLI::IsMember({"as-is", "renormalised", "both"}));
  add_threshold_options(*added, arguments->threshold);
  added->add_flag("--baselines", arguments->baselines,
                  "Also report the equivalent rank of null models: maps with shuffled rows");
  add_model_options(*added, arguments->study.models);
  set_examples(*added,
               {"attnscope truncate vit.safetensors --dataset imagenet/val --count 500",
                "attnscope truncate vit.pt vit.pt@adder --dataset photos --out truncated.h5",
                "attnscope figure rank-accuracy --set file=truncated.h5 --out curves.pdf",
                "attnscope truncate gpt2.safetensors --input essay.txt --layers 3 --heads 0"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
