// attnscope ablate: how a model's answers change when an attention head is replaced.
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/intervention/ablation.h"
#include "analysis/tables/study_report.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/study_report.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

struct AblateArguments {
  StudyArguments study;
  std::string layers = "all", heads = "all", by = "zero", each = "head", other;
  std::size_t answers = 0;
};

/// Stores the value of --other: a head's index with --by head, a mechanism with --by mechanism.
/// Throws Error(usage).
void take_other(const AblateArguments& arguments, Ablation& ablation) {
  const bool head = ablation.by == Replacement::head;
  if (!head && ablation.by != Replacement::mechanism) {
    if (arguments.other.empty()) return;
    throw Error(ErrorKind::usage, "the option only applies to a replacement by a head or mechanism")
        .about("--other")
        .expected("--by head or --by mechanism");
  }
  if (arguments.other.empty()) {
    throw Error(ErrorKind::usage,
                head ? "the other head is missing" : "the other mechanism is missing")
        .about("--by " + arguments.by)
        .expected(head ? "--other 3" : "--other adder");
  }
  if (head) {
    const std::vector<std::int64_t> index = index_list(arguments.other, "--other");
    if (index.size() != 1) {
      throw Error(ErrorKind::usage, "exactly one head must be given")
          .about("--other")
          .found(arguments.other);
    }
    ablation.other_head = index.front();
    return;
  }
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= arguments.other.size();) {
    const std::size_t comma = std::min(arguments.other.find(',', from), arguments.other.size());
    words.push_back(arguments.other.substr(from, comma - from));
    from = comma + 1;
  }
  const std::string name = words.front();
  words.erase(words.begin());
  ablation.mechanism = choose_mechanism(name, words, {});
}

Ablation ablation_of(const AblateArguments& arguments) {
  Ablation ablation;
  ablation.where = {index_list(arguments.layers, "--layers"),
                    index_list(arguments.heads, "--heads")};
  ablation.by = value_of(replacement_names, arguments.by, "replacement");
  take_other(arguments, ablation);
  return ablation;
}

nlohmann::ordered_json answer_json(const Subject& subject, const AblatedAnswer& answer,
                                   const AblateArguments& arguments, const Ablation& ablation) {
  nlohmann::ordered_json divergence;
  if (!std::isnan(answer.divergence)) divergence = answer.divergence;
  return {{"label", subject.label},
          {"model", subject.model->file().string()},
          {"mechanism", to_string(subject.mechanism)},
          {"assumptions", assumptions_as_json(subject.model->assumptions())},
          {"status", status_as_json(subject.model->status())},
          {"changed", in_words(ablation)},
          {"divergence", divergence},
          {"answers", report_as_json(answers_report(answer.greatest(arguments.answers)))}};
}

int run_once(const AblateArguments& arguments) {
  if (arguments.study.text.empty()) {
    throw Error(ErrorKind::usage, "answers need exactly one input")
        .about("--answers")
        .expected("--input X");
  }
  const bool json = arguments.study.format == TableFormat::json;
  const bool text = arguments.study.format == TableFormat::text;
  if (!(json || text) || !arguments.study.out.empty()) {
    throw Error(ErrorKind::usage, "the answers on one input are printed as a table or as JSON")
        .about(arguments.study.out.empty() ? "--format" : "--out");
  }
  const Input input = open_input_argument(arguments.study.text);
  Ablation ablation = ablation_of(arguments);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::vector<Subject> subjects = study_subjects(arguments.study);
  for (const Subject& subject : subjects) {
    if (ablation.by == Replacement::mean) {
      throw Error(ErrorKind::usage, "the mean needs a data set, not one input")
          .about("--by mean")
          .expected("--dataset");
    }
    const AblatedAnswer answer = ablate_once(subject, input, ablation);
    if (json) {
      list.push_back(answer_json(subject, answer, arguments, ablation));
    } else {
      std::printf("%s: %s; KL from the whole model %s bits\n\n%s\n", subject.label.c_str(),
                  in_words(ablation).c_str(), number_cell(answer.divergence, 0, 4).c_str(),
                  report_as_text(answers_report(answer.greatest(arguments.answers))).c_str());
    }
  }
  if (json) {
    print_json({{"input", arguments.study.text}, {"series", std::move(list)}});
  } else {
    print_status(stdout, subjects);
  }
  return 0;
}

int run(const AblateArguments& arguments) {
  if (arguments.answers > 0) return run_once(arguments);
  const Ablation ablation = ablation_of(arguments);
  const AblatedUnit unit = value_of(ablated_unit_names, arguments.each, "unit");
  StudyRequest request = study_request(arguments.study);
  const std::vector<Subject> subjects = study_subjects(arguments.study);
  {
    const TerminalProgress line;
    add_ablation(subjects, ablation, unit, request, line.progress());
  }
  return answer_study(arguments.study, request, subjects);
}

}  // namespace

Action add_ablate(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<AblateArguments>();
  added = parent.add_subcommand("ablate", "Replace the map of each head and measure the effect");
  add_study_options(*added, arguments->study);
  add_layers_option(*added, arguments->layers);
  add_heads_option(*added, arguments->heads);
  const std::string kinds = name_list(names_of(replacement_names), {}, "|");
  add_value_option(
      *added, "--by", arguments->by,
      "Replacement of A: zero, equal weights on the keys that a query sees, its mean over the "
      "data set, A with shuffled rows, the map of another head of the layer, or of another "
      "mechanism on the same queries and keys; an identity mapping is kept",
      kinds)
      ->check(CLI::IsMember(names_of(replacement_names)));
  added
      ->add_option("--other", arguments->other,
                   "Number of the other head with --by head; mechanism with --by mechanism, such "
                   "as adder or hash,bits=16")
      ->type_name("N|MECHANISM");
  add_value_option(*added, "--each", arguments->each,
                   "Unit that is replaced at a time: one head, all heads of a layer, or everything",
                   name_list(names_of(ablated_unit_names), {}, "|"))
      ->check(CLI::IsMember(names_of(ablated_unit_names)));
  added
      ->add_option(
          "--answers", arguments->answers,
          "Number of classes or next tokens shown for the one --input, which may be an image: the "
          "likeliest before, and those that rise most if everything is replaced at once")
      ->type_name("N");
  add_model_options(*added, arguments->study.models);
  set_examples(*added, {"attnscope ablate vit.safetensors --dataset imagenet/val --count 500",
                        "attnscope ablate vit.pt --dataset photos --by uniform --out ablated.h5",
                        "attnscope figure ablation --set file=ablated.h5 --out ablation.pdf",
                        "attnscope ablate vit.pt --input cat.png --layers 11 --heads 0 --answers 5",
                        "attnscope ablate gpt2.safetensors --input essay.txt --each layer"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
