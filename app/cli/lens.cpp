// attnscope lens: the model's answer after each layer, and the heads that produce it.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/intervention/target_name.h"
#include "analysis/mixing/mixing.h"
#include "analysis/tables/reports.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

struct LensArguments {
  ModelArguments models;
  std::size_t top = 3;
  std::string target, heads = "all";  ///< values of the options
  std::int64_t place = -1;
  bool by_head = false;
  TableFormat format = TableFormat::text;
};

/// The lens of a model, or with --by-head the parts of its logit.
struct LensOfModel {
  const Subject* subject = nullptr;
  LogitLens lens = {};
  LogitAttribution attribution = {};
  std::vector<std::int64_t> heads = {};  ///< shown heads
};

/// The token position of --place; every position by default.
std::optional<std::size_t> shown_place(const LensArguments& arguments) {
  if (arguments.place < 0) return {};
  return static_cast<std::size_t>(arguments.place);
}

std::string lens_as_text(const LensOfModel& one, const LensArguments& arguments) {
  const LogitLens& lens = one.lens;
  const std::optional<std::size_t> asked = shown_place(arguments);
  std::string text = one.subject->label + "\n";
  for (std::size_t place = 0; place < lens.cells.front().size(); ++place) {
    if (asked.value_or(place) != place) continue;
    if (lens.of_tokens) {
      text +=
          "after token " + std::to_string(place) + " \"" + shown_text(lens.places[place]) + "\":\n";
    }
    text += report_as_text(lens_report(lens, place));
  }
  return text;
}

std::string attribution_as_text(const LensOfModel& one) {
  return one.subject->label + ": " + attribution_in_words(one.attribution) + "\n" +
         report_as_text(logit_layers_report(one.attribution, one.heads));
}

ordered_json attribution_as_json(const LensOfModel& one) {
  const LogitAttribution& found = one.attribution;
  return {{"model", one.subject->label},
          {"status", status_as_json(status_of(*one.subject))},
          {"target", found.target},
          {"label", found.label},
          {"place", found.place < 0 ? ordered_json() : ordered_json(found.place)},
          {"logit", found.logit},
          {"embedding", found.embedding},
          {"constant", found.constant},
          {"heads", one.heads},
          {"layers", report_as_json(logit_layers_report(found, one.heads))}};
}

/// The heads that --heads selects, all by default. Throws Error(usage).
std::vector<std::int64_t> shown_heads(const LogitAttribution& found,
                                      const LensArguments& arguments) {
  std::vector<std::int64_t> heads = index_list(arguments.heads, "--heads");
  check_heads(heads, found.heads.cols());
  const bool asks_all = heads.empty();
  for (std::int64_t head = 0; asks_all && head < found.heads.cols(); ++head) heads.push_back(head);
  return heads;
}

LensOfModel lens_of(const Subject& subject, const LensArguments& arguments) {
  const std::int64_t target =
      arguments.target.empty() ? -1 : target_named(*subject.trace, arguments.target, "--target");
  LensOfModel one = {.subject = &subject};
  if (arguments.by_head) {
    one.attribution = logit_attribution(subject, target, arguments.place);
    one.heads = shown_heads(one.attribution, arguments);
  } else {
    one.lens = logit_lens(subject, arguments.top, target);
  }
  return one;
}

int run(const LensArguments& arguments) {
  if (arguments.heads != "all" && !arguments.by_head) {
    throw Error(ErrorKind::usage, "the answer after a layer is not defined per head")
        .about("--heads")
        .expected("--by-head");
  }
  std::vector<Subject> subjects;
  {
    const TerminalProgress line;
    TraceRequest request;
    request_for_lens(request);
    request.implied_maps = arguments.by_head;
    if (arguments.by_head) request_for_mixing(request);
    request.token_logits = arguments.by_head && arguments.place >= 0;
    subjects = make_subjects(arguments.models, request, line.progress());
  }
  std::vector<LensOfModel> all;
  for (const Subject& subject : subjects) all.push_back(lens_of(subject, arguments));
  const auto report = [&](const LensOfModel& one) {
    return arguments.by_head ? logit_parts_report(one.attribution, one.heads)
                             : lens_report(one.lens, shown_place(arguments));
  };
  const auto text = [&] {
    std::string words;
    for (const LensOfModel& one : all) {
      words += arguments.by_head ? attribution_as_text(one) : lens_as_text(one, arguments);
    }
    return words;
  };
  const auto json = [&]() -> ordered_json {
    ordered_json list = ordered_json::array();
    for (const LensOfModel& one : all) {
      list.push_back(arguments.by_head
                         ? attribution_as_json(one)
                         : ordered_json{{"model", one.subject->label},
                                        {"status", status_as_json(status_of(*one.subject))},
                                        {"cells", report_as_json(report(one))}});
    }
    return {{"models", std::move(list)}};
  };
  print_results(arguments.format, subjects, text, json, [&] {
    return report_on(
        all, {{{.name = "model"}, [](const LensOfModel& one) { return one.subject->label; }},
              {{.name = "lens"},
               [&report](const LensOfModel& one) { return table_cell(report(one)); }}});
  });
  return 0;
}

}  // namespace

Action add_lens(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<LensArguments>();
  added = parent.add_subcommand(
      "lens",
      "Answers of the model if it ended after each layer\n"
      "After layer l the answer is head(norm(x_l)). With --by-head: the share "
      "of each head in the answer, (A^h v^h W_O^h) / s ⊙ weight · w with the "
      "last norm's statistics s fixed.");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  add_value_option(*added, "--top", arguments->top, "Number of answers per depth", "N")
      ->check(CLI::Range(1, 1000));
  added
      ->add_option("--target", arguments->target,
                   "The class or token that is followed, by its index or name (with --by-head the "
                   "likeliest one)")
      ->type_name("NAME");
  added
      ->add_option(
          "--place", arguments->place,
          "Token position that is read out in a text, from 0 (all; with --by-head the last)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  added->add_flag("--by-head", arguments->by_head,
                  "Direct logit attribution: what each head, bias and MLP adds to the logit; for "
                  "pre-norm models with a linear head");
  add_heads_option(*added, arguments->heads);
  add_format_options(*added, arguments->format, "a row for each answer or part");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope lens gpt2.safetensors --input text:To-be-or-not-to",
                        "attnscope lens vit.pt --input cat.png --by-head --target 281",
                        "attnscope figure logit-lens gpt2.safetensors --input text:To-be --out "
                        "lens.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
