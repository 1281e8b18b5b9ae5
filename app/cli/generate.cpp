// attnscope generate: a text continued by a language model, with the alternatives at each place.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/tables/reports.h"
#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/table_format.h"
#include "app/cli/terminal_progress.h"
#include "core/model/transformer/generation.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

using nlohmann::ordered_json;

struct GenerateArguments {
  ModelArguments model;
  std::vector<std::string> input;  ///< one
  GenerationSettings settings;
  TableFormat format = TableFormat::text;
};

/// The end of the text, if it is not the number of tokens that were asked for.
std::string end_in_words(const GeneratedText& text, const Model& model) {
  switch (text.end) {
    case GenerationEnd::token:
      return "The text ends with the token \"" + shown_text(text.tokens.back().chosen.text) +
             "\", which stands for no text.\n";
    case GenerationEnd::context:
      return "The model's context of " + std::to_string(model.spec().input.context) +
             " tokens is full.\n";
    case GenerationEnd::count:
      break;
  }
  return {};
}

ordered_json as_json(const Model& model, const MechanismChoice& mechanism,
                     const GenerateArguments& arguments, const GeneratedText& text) {
  const TokenSampling& sampling = arguments.settings.sampling;
  return {{"model", model.name()},
          {"mechanism", to_string(mechanism)},
          {"input", arguments.input.front()},
          {"temperature", sampling.temperature},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"seed", sampling.seed},
          {"text", text.text()},
          {"ids", text.ids()},
          {"prompt_tokens", std::ssize(text.prompt)},
          {"end", name_of(generation_end_names, text.end)},
          {"kept_keys", text.kept_keys},
          {"status", status_as_json(model.status())},
          {"tokens", report_as_json(generated_tokens_report(text))}};
}

int run(const GenerateArguments& arguments) {
  const ModelArgument argument = split_without_input(arguments.model.models.front());
  const Input input = open_input_argument(arguments.input.front());
  const std::shared_ptr<const Model> model =
      load_model(argument.file, options_of(arguments.model, argument));
  const MechanismChoice mechanism =
      choose_mechanism(arguments.model, argument, model->spec().mechanism);
  const GenerationSettings& settings = arguments.settings;
  const bool streams = arguments.format == TableFormat::text;
  const GeneratedText text = [&] {
    if (!streams) {
      const TerminalProgress line;
      return generate(*model, input, mechanism, settings, {}, line.progress());
    }
    return generate(*model, input, mechanism, settings, [](const GeneratedToken& token) {
      write_to_standard_output(token.chosen.text);
      std::fflush(stdout);
    });
  }();
  if (arguments.format == TableFormat::json) {
    print_json(as_json(*model, mechanism, arguments, text));
    return 0;
  }
  if (!streams) {
    print_report(generated_tokens_report(text), arguments.format);
    print_status(stderr, *model);
    return 0;
  }
  std::printf("\n");
  if (settings.alternatives > 0) {
    std::printf("\n%s\n", report_as_text(generated_tokens_report(text)).c_str());
  }
  std::fflush(stdout);
  std::fputs(end_in_words(text, *model).c_str(), stderr);
  print_status(stderr, *model);
  return 0;
}

}  // namespace

Action add_generate(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<GenerateArguments>();
  added = parent.add_subcommand(
      "generate",
      "A text continued token by token\n"
      "Prints the new text as it comes. It ends after --tokens tokens, at a token that stands for "
      "no text, such as </s>, or where the model's context is full. The likeliest token is taken; "
      "with --temperature a token is drawn.");
  GenerationSettings& settings = arguments->settings;
  TokenSampling& sampling = settings.sampling;
  add_model_argument(*added, arguments->model, false, true);
  added
      ->add_option("--input", arguments->input,
                   "Text that is continued: a .txt file, FILE.txt#FIRST-LAST (characters), "
                   "text:WORDS, chat:MESSAGE, ids:1,2,3, or - for standard input; with --prompt a "
                   "picture, or several: FIRST.png+SECOND.png")
      ->type_name("X")
      ->expected(1)
      ->required();
  add_prompt_option(*added, arguments->input);
  add_value_option(*added, "--tokens", settings.tokens, "Number of new tokens at most", "N")
      ->check(CLI::Range(1, 1'000'000));
  add_value_option(*added, "--temperature", sampling.temperature,
                   "Divisor of the logits before a token is drawn (0: the likeliest token)", "T")
      ->check(CLI::Range(0.0, 100.0));
  add_value_option(*added, "--top-k", sampling.top_k,
                   "Number of likeliest tokens that can be drawn (0: all)", "K")
      ->check(CLI::NonNegativeNumber);
  add_value_option(*added, "--top-p", sampling.top_p,
                   "Sum of probabilities of the likeliest tokens that can be drawn, after --top-k",
                   "P")
      ->check(CLI::Range(0.0, 1.0));
  add_value_option(*added, "--seed", sampling.seed, "Seed of the draws", "N");
  add_value_option(*added, "--alternatives", settings.alternatives,
                   "Number of likeliest tokens that are shown at each position", "N")
      ->check(CLI::Range(0, 1000));
  add_format_options(*added, arguments->format, "a row for each new token");
  add_mechanism_options(*added, arguments->model);
  add_model_options(*added, arguments->model);
  set_examples(
      *added, {"attnscope generate gpt2.safetensors --input text:To-be-or-not-to",
               "attnscope generate llava --input photo.png --prompt \"What is on the table?\"",
               "attnscope generate smolvlm --input before.png+after.png --prompt \"What changed?\"",
               "attnscope generate llama.gguf --input essay.txt --temperature 0.8 --top-p 0.9",
               "attnscope generate gpt2.safetensors@adder --input text:To-be --alternatives 5"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
