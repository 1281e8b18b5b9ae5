// attnscope lens: the model's answer after each layer, and the heads that produce it.
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/lens/logit_attribution.h"
#include "analysis/lens/logit_lens.h"
#include "analysis/lens/target_name.h"
#include "analysis/mixing/mixing.h"
#include "app/cli/command_table.h"
#include "app/cli/index_list.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/subjects.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

struct LensArguments {
  ModelArguments models;
  std::size_t top = 3;
  std::string target, heads = "all";  ///< values of the options
  std::int64_t place = -1;
  bool by_head = false, json = false, csv = false;
};

std::string depth_words(std::int64_t depth) { return depth < 0 ? "in" : std::to_string(depth); }

std::string answer_words(const LensAnswer& answer) {
  return answer.label.empty() ? std::to_string(answer.index) : shown_text(answer.label);
}

/// True if token position `place` is to be shown: --place, or every position by default.
bool is_wanted(const LensArguments& arguments, std::size_t place) {
  return arguments.place < 0 || arguments.place == static_cast<std::int64_t>(place);
}

void print_lens(const Subject& subject, const LogitLens& lens, const LensArguments& arguments) {
  std::printf("%s\n", subject.label.c_str());
  const std::size_t places = lens.cells.front().size();
  for (std::size_t place = 0; place < places; ++place) {
    if (!is_wanted(arguments, place)) continue;
    if (lens.of_tokens) {
      std::printf("after token %zu \"%s\":\n", place, shown_text(lens.places[place]).c_str());
    }
    std::printf("layer   entropy   KL to last   likeliest\n");
    for (std::size_t depth = 0; depth < lens.depths.size(); ++depth) {
      const LensCell& cell = lens.cells[depth][place];
      std::printf(
          "%5s %s %s  ", depth_words(lens.depths[depth]).c_str(),
          number_cell(cell.likeliest.empty() ? std::nan("") : cell.entropy, 9, 3).c_str(),
          number_cell(cell.likeliest.empty() ? std::nan("") : cell.divergence, 12, 3).c_str());
      for (const LensAnswer& answer : cell.likeliest) {
        std::printf(" %s (%s %%)", answer_words(answer).c_str(),
                    fixed_text(100 * answer.probability, 1).c_str());
      }
      if (cell.target.index >= 0) {
        std::printf("; %s %s %%", answer_words(cell.target).c_str(),
                    fixed_text(100 * cell.target.probability, 1).c_str());
      }
      std::printf("\n");
    }
  }
}

void print_lens_csv(const Subject& subject, const LogitLens& lens, const LensArguments& arguments) {
  for (std::size_t depth = 0; depth < lens.depths.size(); ++depth) {
    for (std::size_t place = 0; place < lens.cells[depth].size(); ++place) {
      if (!is_wanted(arguments, place)) continue;
      const LensCell& cell = lens.cells[depth][place];
      for (std::size_t rank = 0; rank < cell.likeliest.size(); ++rank) {
        const LensAnswer& answer = cell.likeliest[rank];
        std::printf(
            "%s,%s,%zu,%zu,%lld,%s,%s,%s,%s,%s\n", csv_field(subject.label).c_str(),
            depth_words(lens.depths[depth]).c_str(), place, rank + 1,
            static_cast<long long>(answer.index), csv_field(answer.label).c_str(),
            rounded_text(answer.logit, 9).c_str(), rounded_text(answer.probability, 9).c_str(),
            rounded_text(cell.entropy, 9).c_str(), rounded_text(cell.divergence, 9).c_str());
      }
    }
  }
}

ordered_json lens_json(const Subject& subject, const LogitLens& lens,
                       const LensArguments& arguments) {
  ordered_json cells = ordered_json::array();
  const auto answer_of = [](const LensAnswer& answer) -> ordered_json {
    return {{"index", answer.index},
            {"label", answer.label},
            {"logit", answer.logit},
            {"probability", answer.probability}};
  };
  for (std::size_t depth = 0; depth < lens.depths.size(); ++depth) {
    for (std::size_t place = 0; place < lens.cells[depth].size(); ++place) {
      if (!is_wanted(arguments, place)) continue;
      const LensCell& cell = lens.cells[depth][place];
      ordered_json likeliest = ordered_json::array();
      for (const LensAnswer& answer : cell.likeliest) likeliest.push_back(answer_of(answer));
      const bool known = !cell.likeliest.empty();
      cells.push_back(
          {{"layer", lens.depths[depth] < 0 ? ordered_json() : ordered_json(lens.depths[depth])},
           {"place", lens.of_tokens ? ordered_json(place) : ordered_json()},
           {"token", lens.of_tokens ? ordered_json(lens.places[place]) : ordered_json()},
           {"likeliest", std::move(likeliest)},
           {"target", cell.target.index >= 0 ? answer_of(cell.target) : ordered_json()},
           {"entropy", known ? ordered_json(cell.entropy) : ordered_json()},
           {"divergence", known ? ordered_json(cell.divergence) : ordered_json()}});
    }
  }
  return {{"model", subject.label},
          {"status", status_as_json(status_of(subject))},
          {"cells", std::move(cells)}};
}

using HeadNumbers = std::vector<Eigen::Index>;

/// The heads that --heads selects, all by default. Throws Error(usage).
HeadNumbers shown_heads(const LogitAttribution& found, const LensArguments& arguments) {
  const std::vector<std::int64_t> asked = index_list(arguments.heads, "--heads");
  check_heads(asked, found.heads.cols());
  HeadNumbers heads(asked.begin(), asked.end());
  for (Eigen::Index head = 0; asked.empty() && head < found.heads.cols(); ++head) {
    heads.push_back(head);
  }
  return heads;
}

void print_attribution(const Subject& subject, const LogitAttribution& found,
                       const HeadNumbers& heads) {
  std::printf("%s: logit of %lld%s%s: %s\n", subject.label.c_str(),
              static_cast<long long>(found.target),
              found.label.empty() ? "" : (" \"" + shown_text(found.label) + "\"").c_str(),
              found.place < 0 ? "" : (" after token " + std::to_string(found.place)).c_str(),
              rounded_text(found.logit, 5).c_str());
  std::printf("embedding %s, biases of norm and head %s\n\nlayer",
              rounded_text(found.embedding, 4).c_str(), rounded_text(found.constant, 4).c_str());
  for (const Eigen::Index head : heads) {
    std::printf("%9s", ("head " + std::to_string(head)).c_str());
  }
  std::printf("     bias      rest\n");
  for (Eigen::Index layer = 0; layer < found.heads.rows(); ++layer) {
    std::printf("%5lld", static_cast<long long>(layer));
    for (const Eigen::Index head : heads) {
      std::printf("%s", number_cell(found.heads(layer, head), 9, 4).c_str());
    }
    const auto at = static_cast<std::size_t>(layer);
    std::printf("%s%s\n", number_cell(found.biases[at], 9, 4).c_str(),
                number_cell(found.rest[at], 10, 4).c_str());
  }
}

void print_attribution_csv(const Subject& subject, const LogitAttribution& found,
                           const HeadNumbers& heads) {
  const auto row = [&](const std::string& layer, const std::string& what, double value) {
    std::printf("%s,%lld,%s,%s,%s\n", csv_field(subject.label).c_str(),
                static_cast<long long>(found.target), layer.c_str(), what.c_str(),
                std::isnan(value) ? "" : rounded_text(value, 9).c_str());
  };
  row("", "embedding", found.embedding);
  row("", "constant", found.constant);
  for (Eigen::Index layer = 0; layer < found.heads.rows(); ++layer) {
    const std::string number = std::to_string(layer);
    for (const Eigen::Index head : heads) {
      row(number, "head " + std::to_string(head), found.heads(layer, head));
    }
    row(number, "bias", found.biases[static_cast<std::size_t>(layer)]);
    row(number, "rest", found.rest[static_cast<std::size_t>(layer)]);
  }
}

ordered_json attribution_json(const Subject& subject, const LogitAttribution& found,
                              const HeadNumbers& shown) {
  ordered_json layers = ordered_json::array();
  for (Eigen::Index layer = 0; layer < found.heads.rows(); ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    ordered_json heads = ordered_json::array();
    for (const Eigen::Index head : shown) {
      const double share = found.heads(layer, head);
      if (!std::isnan(share)) heads.push_back(share);
    }
    layers.push_back({{"layer", layer},
                      {"heads", std::move(heads)},
                      {"bias", found.biases[at]},
                      {"rest", found.rest[at]}});
  }
  return {{"model", subject.label},
          {"status", status_as_json(status_of(subject))},
          {"target", found.target},
          {"label", found.label},
          {"place", found.place < 0 ? ordered_json() : ordered_json(found.place)},
          {"logit", found.logit},
          {"embedding", found.embedding},
          {"constant", found.constant},
          {"heads", shown},
          {"layers", std::move(layers)}};
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
  ordered_json list = ordered_json::array();
  if (arguments.csv) {
    std::printf(arguments.by_head
                    ? "model,target,layer,part,logit\n"
                    : "model,layer,place,rank,index,label,logit,probability,entropy,divergence\n");
  }
  for (const Subject& subject : subjects) {
    const std::int64_t target =
        arguments.target.empty() ? -1 : target_named(*subject.trace, arguments.target, "--target");
    if (arguments.by_head) {
      const LogitAttribution found = logit_attribution(subject, target, arguments.place);
      const HeadNumbers heads = shown_heads(found, arguments);
      if (arguments.json) {
        list.push_back(attribution_json(subject, found, heads));
      } else if (arguments.csv) {
        print_attribution_csv(subject, found, heads);
      } else {
        print_attribution(subject, found, heads);
      }
      continue;
    }
    const LogitLens lens = logit_lens(subject, arguments.top, target);
    if (arguments.json) {
      list.push_back(lens_json(subject, lens, arguments));
    } else if (arguments.csv) {
      print_lens_csv(subject, lens, arguments);
    } else {
      print_lens(subject, lens, arguments);
    }
  }
  if (arguments.json) print_json({{"models", std::move(list)}});
  if (!arguments.json) print_status(arguments.csv ? stderr : stdout, subjects);
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
  CLI::Option* const json = add_json_flag(*added, arguments->json);
  added->add_flag("--csv", arguments->csv, "Write CSV, a row for each answer or part")
      ->excludes(json);
  add_mechanism_options(*added, arguments->models);
  add_model_options(*added, arguments->models);
  set_examples(*added, {"attnscope lens gpt2.safetensors --input text:To-be-or-not-to",
                        "attnscope lens vit.pt --input cat.png --by-head --target 281",
                        "attnscope figure logit-lens gpt2.safetensors --input text:To-be --out "
                        "lens.pdf"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
