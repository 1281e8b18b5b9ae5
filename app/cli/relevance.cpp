// attnscope relevance: the input tokens that an answer depends on, by gradients.
#include "analysis/relevance/relevance.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/intervention/target_name.h"
#include "analysis/tables/reports.h"
#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/shown_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

struct RelevanceArguments {
  ModelArguments models;
  std::string targets;
  std::int64_t place = -1;
  std::size_t top = 10;
  TableFormat format = TableFormat::text;
};

struct FoundRelevance {
  const Subject* subject = nullptr;
  TokenRelevance relevance;
};

std::string target_words(const TokenRelevance& found) {
  return std::to_string(found.target) +
         (found.label.empty() ? "" : " \"" + shown_text(found.label) + "\"") +
         (found.place < 0 ? "" : ", read at token " + std::to_string(found.place));
}

std::vector<std::size_t> most_relevant(const std::vector<double>& tokens, std::size_t top) {
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return tokens[a] > tokens[b]; });
  order.resize(std::min(order.size(), top));
  return order;
}

Report relevance_report(const std::vector<FoundRelevance>& all) {
  const auto all_tokens = [](const FoundRelevance& found) {
    std::vector<std::size_t> tokens(found.relevance.tokens.size());
    std::iota(tokens.begin(), tokens.end(), std::size_t{0});
    return table_cell(
        relevant_tokens_report(*found.subject->trace, found.relevance, std::move(tokens)));
  };
  using Found = FoundRelevance;
  auto columns = model_columns<Found>();
  append(columns,
         {{json_only("mechanism"),
           [](const Found& one) { return to_string(one.subject->trace->mechanism); }},
          {{.name = "input"}, [](const Found& one) { return one.subject->trace->input_label; }},
          {{.name = "target"}, [](const Found& one) { return one.relevance.target; }},
          {json_only("label"), [](const Found& one) { return one.relevance.label; }},
          {json_only("place"), [](const Found& one) { return if_any(one.relevance.place); }},
          {json_only("logit"), [](const Found& one) { return one.relevance.logit; }},
          {json_only("tokens"), [](const Found& one) { return json_cell(one.relevance.tokens); }},
          {csv_only("tokens"), all_tokens}});
  return report_on(all, std::move(columns));
}

std::string relevance_as_text(const std::vector<FoundRelevance>& all, std::size_t top) {
  std::string text;
  for (const FoundRelevance& found : all) {
    const TokenRelevance& relevance = found.relevance;
    text += found.subject->label + ": logit of " + target_words(relevance) + ": " +
            number_cell(relevance.logit, 0, 4) + "\n\n" +
            report_as_text(relevant_tokens_report(*found.subject->trace, relevance,
                                                  most_relevant(relevance.tokens, top))) +
            "\n";
  }
  return text +
         "relevance: R ← R + ĀR from R = I through all layers, Ā = mean over heads of "
         "max(0, ∇A ⊙ A), the row of what is read\n";
}

int run(const RelevanceArguments& arguments) {
  std::vector<Subject> subjects;
  std::vector<FoundRelevance> all;
  {
    const TerminalProgress line;
    TraceRequest request;
    request_for_relevance(request);
    request.token_logits = arguments.place >= 0;
    subjects = make_subjects(arguments.models, request, line.progress().part(0, 0.5));
    const double share = 0.5 / static_cast<double>(subjects.size());
    for (const Subject& subject : subjects) {
      const double first = 0.5 + share * static_cast<double>(&subject - subjects.data());
      const std::vector<std::int64_t> targets =
          arguments.targets.empty() ? std::vector<std::int64_t>{-1}
                                    : targets_named(*subject.trace, arguments.targets, "--targets");
      for (TokenRelevance& found : token_relevance(subject, targets, arguments.place,
                                                   line.progress().part(first, first + share))) {
        all.push_back({&subject, std::move(found)});
      }
    }
  }
  const auto report = [&all] { return relevance_report(all); };
  print_results(
      arguments.format, subjects, [&] { return relevance_as_text(all, arguments.top); },
      [&]() -> nlohmann::ordered_json {
        return {{"relevance", report_as_json(report())}};
      },
      report);
  return 0;
}

}  // namespace

Action add_relevance(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<RelevanceArguments>();
  added = parent.add_subcommand("relevance",
                                "Relevance of each token for a class or next token\n"
                                "It follows from the gradient of the logit with respect to every "
                                "map (Chefer et al. 2021).");
  add_model_argument(*added, arguments->models, true, true);
  add_input_option(*added, arguments->models);
  added
      ->add_option(
          "--targets", arguments->targets,
          "Classes or tokens, by their indices or names; the likeliest one if none is given")
      ->type_name("NAME,…");
  added
      ->add_option("--place", arguments->place,
                   "Token position that is read out in a text, from 0 (the last)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  add_value_option(*added, "--top", arguments->top, "Number of tokens in the table", "N")
      ->check(CLI::Range(1, 100'000));
  add_format_options(*added, arguments->format, "a row for each token");
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added,
               {"attnscope relevance vit.safetensors --input cat.png --targets 281,207",
                "attnscope relevance gpt2.safetensors --input text:To-be-or-not-to --csv",
                "attnscope figure relevance vit.pt --input cat.png --set targets=281,207 --out "
                "relevance.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
