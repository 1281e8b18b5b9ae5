// attnscope relevance: the input tokens that an answer depends on, by gradients.
#include "analysis/relevance/relevance.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/lens/target_name.h"
#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/shown_text.h"
#include "core/text/csv_field.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

struct RelevanceArguments {
  ModelArguments models;
  std::string targets;
  std::int64_t place = -1;
  std::size_t top = 10;
  bool json = false, csv = false;
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

/// Name of a token: "(3, 7)" for an image patch, "to" for a text token.
std::string token_name(const Trace& trace, std::size_t token) {
  const TokenLayout& layout = trace.layout;
  const auto index = static_cast<std::int64_t>(token);
  if (layout.has_grid() && index >= layout.prefix) {
    const std::int64_t cell = index - layout.prefix;
    return "(" + std::to_string(cell / layout.columns) + ", " +
           std::to_string(cell % layout.columns) + ")";
  }
  return shown_text(layout.name(index));
}

std::vector<std::size_t> most_relevant(const std::vector<double>& tokens, std::size_t top) {
  std::vector<std::size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return tokens[a] > tokens[b]; });
  order.resize(std::min(order.size(), top));
  return order;
}

void print_relevance(const FoundRelevance& found, std::size_t top) {
  const TokenRelevance& relevance = found.relevance;
  const double sum = std::accumulate(relevance.tokens.begin(), relevance.tokens.end(), 0.0);
  std::printf("%s: logit of %s: %s\n\ntoken  relevance    share\n", found.subject->label.c_str(),
              target_words(relevance).c_str(), number_cell(relevance.logit, 0, 4).c_str());
  for (const std::size_t token : most_relevant(relevance.tokens, top)) {
    std::printf("%5zu %s %s %%  %s\n", token, number_cell(relevance.tokens[token], 10, 5).c_str(),
                number_cell(100 * relevance.tokens[token] / sum, 6, 1).c_str(),
                token_name(*found.subject->trace, token).c_str());
  }
  std::printf("\n");
}

void print_relevance_csv(const FoundRelevance& found) {
  for (std::size_t token = 0; token < found.relevance.tokens.size(); ++token) {
    std::printf("%s,%s,%lld,%zu,%s,%s\n", csv_field(found.subject->label).c_str(),
                csv_field(found.subject->trace->input_label).c_str(),
                static_cast<long long>(found.relevance.target), token,
                csv_field(token_name(*found.subject->trace, token)).c_str(),
                rounded_text(found.relevance.tokens[token], 9).c_str());
  }
}

nlohmann::ordered_json relevance_json(const FoundRelevance& found) {
  using nlohmann::ordered_json;
  const TokenRelevance& relevance = found.relevance;
  return {{"model", found.subject->label},
          {"status", status_as_json(status_of(*found.subject))},
          {"mechanism", to_string(found.subject->trace->mechanism)},
          {"input", found.subject->trace->input_label},
          {"target", relevance.target},
          {"label", relevance.label},
          {"place", relevance.place < 0 ? ordered_json() : ordered_json(relevance.place)},
          {"logit", std::isnan(relevance.logit) ? ordered_json() : ordered_json(relevance.logit)},
          {"tokens", relevance.tokens}};
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
  if (arguments.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const FoundRelevance& found : all) list.push_back(relevance_json(found));
    print_json({{"relevance", std::move(list)}});
    return 0;
  }
  if (arguments.csv) std::printf("model,input,target,token,name,relevance\n");
  for (const FoundRelevance& found : all) {
    if (arguments.csv) {
      print_relevance_csv(found);
    } else {
      print_relevance(found, arguments.top);
    }
  }
  if (!arguments.csv) {
    std::printf(
        "relevance: R ← R + ĀR from R = I through all layers, Ā = mean over heads of "
        "max(0, ∇A ⊙ A), the row of what is read\n");
  }
  print_status(arguments.csv ? stderr : stdout, subjects);
  return 0;
}

}  // namespace

Action add_relevance(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<RelevanceArguments>();
  added = parent.add_subcommand("relevance",
                                "Relevance of each token for a class or token, by the gradient of "
                                "its logit with respect to every map (Chefer et al. 2021)");
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
  added->add_option("--top", arguments->top, "Number of tokens in the table")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  CLI::Option* const json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each token")->excludes(json);
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
