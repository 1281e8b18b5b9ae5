// attnscope evaluate: accuracy on labelled images, or how well a model predicts a text.
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command_table.h"
#include "app/cli/model_arguments.h"
#include "app/cli/standard_streams.h"
#include "app/cli/status_line.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/model/evaluation/evaluation.h"
#include "core/model/evaluation/text_evaluation.h"
#include "core/model/evaluation/zero_shot.h"
#include "core/shown_text.h"
#include "core/text/number_text.h"
#include "core/text/table_cell.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

struct EvaluateArguments {
  ModelArguments model;
  std::string data_set;
  std::string text;
  std::string prompts;
  ItemChoice choice;
  bool json = false;
};

std::string class_label(const Model& model, const DataSet& data_set, std::size_t index) {
  if (index < model.spec().labels.size()) return model.spec().labels[index];
  if (index < data_set.class_names().size()) return data_set.class_names()[index];
  return "class " + std::to_string(index);
}

/// Standard error √(p(1 − p)/n) of the accuracy p over n independent images.
double standard_error(const Evaluation& result) {
  const double p = result.accuracy();
  return std::sqrt(p * (1 - p) / static_cast<double>(result.images));
}

bool is_trained(const Model& model, const MechanismChoice& mechanism) {
  return mechanism == make_mechanism(model.spec().mechanism)->choice();
}

void print_as_json(const Model& model, const MechanismChoice& mechanism, const Model* texts,
                   const EvaluateArguments& arguments, const DataSet& data_set,
                   const Evaluation& result) {
  nlohmann::ordered_json object = {{"model", model.name()},
                                   {"mechanism", to_string(mechanism)},
                                   {"mechanism_trained", is_trained(model, mechanism)},
                                   {"data_set", arguments.data_set},
                                   {"images", result.images},
                                   {"of_images", data_set.size()},
                                   {"seed", arguments.choice.seed},
                                   {"correct", result.correct},
                                   {"accuracy", result.accuracy()},
                                   {"standard_error", standard_error(result)},
                                   {"correct_in_five", result.correct_in_five},
                                   {"not_finite", result.not_finite}};
  nlohmann::ordered_json classes = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < result.class_images.size(); ++i) {
    classes.push_back({{"label", class_label(model, data_set, i)},
                       {"images", result.class_images[i]},
                       {"correct", result.class_correct[i]}});
  }
  object["classes"] = std::move(classes);
  object["prompts"] = nullptr;
  if (!arguments.prompts.empty()) object["prompts"] = arguments.prompts;
  object["assumptions"] = assumptions_as_json(model.assumptions());
  object["status"] = status_as_json(model.status());
  object["prompts_status"] = texts ? status_as_json(texts->status()) : nlohmann::ordered_json();
  print_json(object);
}

void print_text(const Model& model, const MechanismChoice& mechanism, const ItemChoice& choice,
                const DataSet& data_set, const Evaluation& result) {
  std::printf("%s, %s%s: accuracy %s %% ± %s (%lld correct of %lld; %s)\n", model.name().c_str(),
              to_string(mechanism).c_str(), training_note(is_trained(model, mechanism)).c_str(),
              fixed_text(100 * result.accuracy(), 2).c_str(),
              fixed_text(100 * standard_error(result), 2).c_str(),
              static_cast<long long>(result.correct), static_cast<long long>(result.images),
              choice_in_words(data_set.size(), choice, "images").c_str());
  if (result.not_finite > 0) {
    std::printf("  %lld with NaN or Inf in the logits, counted as wrong\n",
                static_cast<long long>(result.not_finite));
  }
  if (result.class_images.size() > 20) return;
  for (std::size_t i = 0; i < result.class_images.size(); ++i) {
    if (result.class_images[i] == 0) continue;
    std::printf("  %-20s %s %% of %lld\n", class_label(model, data_set, i).c_str(),
                number_cell(100 * static_cast<double>(result.class_correct[i]) /
                                static_cast<double>(result.class_images[i]),
                            6, 2)
                    .c_str(),
                static_cast<long long>(result.class_images[i]));
  }
}

int run_on_text(const Model& model, const MechanismChoice& mechanism,
                const EvaluateArguments& arguments) {
  const Input input = open_input_argument(arguments.text);
  const Text* const text = std::get_if<Text>(&input.content);
  if (!text) {
    throw Error(ErrorKind::usage, "the input is not a text")
        .about("--input")
        .found(arguments.text)
        .remedy("images are evaluated with --dataset")
        .expected("a .txt file, FILE.txt#FIRST-LAST, text:WORDS or ids:1,2,3");
  }
  const TextEvaluation result = [&] {
    const TerminalProgress line;
    return evaluate_text(model, mechanism, *text, arguments.choice, line.progress());
  }();
  const double correct =
      static_cast<double>(result.correct) / static_cast<double>(result.predicted);
  if (arguments.json) {
    const nlohmann::ordered_json object = {
        {"model", model.name()},
        {"mechanism", to_string(mechanism)},
        {"mechanism_trained", is_trained(model, mechanism)},
        {"text", arguments.text},
        {"chunks", result.chunks},
        {"of_chunks", result.of_chunks},
        {"seed", arguments.choice.seed},
        {"tokens", result.predicted},
        {"characters", result.characters > 0 ? nlohmann::ordered_json(result.characters)
                                             : nlohmann::ordered_json(nullptr)},
        {"bits_per_token", result.bits_per_token()},
        {"bits_per_character", result.bits_per_character()},
        {"correct", correct},
        {"not_finite", result.not_finite},
        {"assumptions", assumptions_as_json(model.assumptions())},
        {"status", status_as_json(model.status())}};
    print_json(object);
    return 0;
  }
  const std::string characters = result.characters > 0
                                     ? std::to_string(result.characters) + " characters"
                                     : "what the tokens say is not known";
  std::printf("%s, %s%s: %s bits a character (%s)\n", model.name().c_str(),
              to_string(mechanism).c_str(), training_note(is_trained(model, mechanism)).c_str(),
              number_cell(result.bits_per_character(), 0, 4).c_str(), characters.c_str());
  std::printf("  %s bits a token, %s %% of %lld tokens predicted correctly (%s)\n",
              number_cell(result.bits_per_token(), 0, 4).c_str(),
              fixed_text(100 * correct, 2).c_str(), static_cast<long long>(result.predicted),
              choice_in_words(result.of_chunks, arguments.choice, "chunks of the text").c_str());
  if (result.not_finite > 0) {
    std::printf("  %lld with NaN or Inf in the logits: not in the bits, and not correct\n",
                static_cast<long long>(result.not_finite));
  }
  print_status(stdout, model);
  return 0;
}

/// Prompts from a template with {} for the class name, or from a file with one line per class.
std::vector<ClassPrompt> class_prompts(const std::string& argument, const DataSet& data_set) {
  const std::vector<std::string>& names = data_set.class_names();
  std::vector<ClassPrompt> prompts;
  const std::size_t place = argument.find("{}");
  if (place != std::string::npos) {
    if (names.empty()) {
      throw Error(ErrorKind::usage, "the data set does not name its classes")
          .about("--prompts")
          .remedy("give a file with a line for each class");
    }
    for (const std::string& name : names) {
      prompts.push_back({name, {std::string(argument).replace(place, 2, name), {}}});
    }
    return prompts;
  }
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  std::istringstream lines(read_file(argument, most_bytes));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const std::size_t index = prompts.size();
    prompts.push_back({index < names.size() ? names[index] : line, {line, {}}});
  }
  if (!names.empty() && names.size() != prompts.size()) {
    throw Error(ErrorKind::usage, "the number of prompts differs from the number of classes")
        .in_file(argument)
        .expected(std::to_string(names.size()) + " lines, one per class of the data set")
        .found(std::to_string(prompts.size()));
  }
  return prompts;
}

/// Loads the text tower with those of the image tower's options that apply to it (padding and state
/// dict).
std::shared_ptr<const Model> load_texts(const std::string& file, const ModelOptions& images) {
  ModelOptions options{{{"input.kind", "tokens"}}, {}};
  for (const char* const shared : {"padding", kStateDictOption}) {
    const auto said = images.overrides.find(shared);
    if (said != images.overrides.end()) options.overrides.insert(*said);
  }
  return load_model(file, options);
}

/// Description of the padding: "filled up to 64 tokens with token 1: as tokenizer_config.json
/// says"; empty for texts without padding.
std::string how_filled_up(const Model& texts) {
  const InputSpec& input = texts.spec().input;
  if (!input.pads_to_context) return {};
  std::string reason = "set by the user";
  for (const Assumption& assumption : texts.assumptions()) {
    if (assumption.option == "padding") reason = assumption.reason;
  }
  return "filled up to " + std::to_string(input.context) + " tokens with token " +
         std::to_string(input.padding) + ": " + reason;
}

int run(const EvaluateArguments& arguments) {
  const ModelArgument argument = split_without_input(arguments.model.models.front());
  if (arguments.data_set.empty() == arguments.text.empty()) {
    throw Error(ErrorKind::usage, "give a data set of images, or a text")
        .expected("--dataset DATASET or --input TEXT");
  }
  const ModelOptions options = options_of(arguments.model, argument);
  std::shared_ptr<const Model> model = load_model(argument.file, options);
  const MechanismArgument laid =
      mechanism_argument(arguments.model, argument, model->spec().mechanism);
  const MechanismChoice& mechanism = laid.choice;
  if (!arguments.text.empty()) return run_on_text(*model, mechanism, arguments);
  const auto data_set = open_data_set(arguments.data_set);
  std::shared_ptr<const Model> texts;
  if (!arguments.prompts.empty()) {
    texts = load_texts(argument.file, options);
    model = zero_shot_model(model, *texts, class_prompts(arguments.prompts, *data_set));
  }
  const Evaluation result = [&] {
    const TerminalProgress line;
    return evaluate(*model, mechanism, *data_set, arguments.choice, line.progress(),
                    laid.parameters);
  }();
  if (arguments.json) {
    print_as_json(*model, mechanism, texts.get(), arguments, *data_set, result);
  } else {
    print_text(*model, mechanism, arguments.choice, *data_set, result);
    if (texts) {
      std::printf("classes as the prompts say: %s\n", shown_text(arguments.prompts).c_str());
      const std::string filled_up = how_filled_up(*texts);
      if (!filled_up.empty()) std::printf("prompts %s\n", filled_up.c_str());
    }
    print_status(stdout, *model);
    if (texts) print_status(stdout, *texts, "prompts: ");
  }
  return 0;
}

}  // namespace

Action add_evaluate(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<EvaluateArguments>();
  added = parent.add_subcommand("evaluate", "Accuracy on labelled images, or prediction of a text");
  add_model_argument(*added, arguments->model, false, true);
  add_data_set_option(*added, arguments->data_set, "Labelled images");
  added
      ->add_option("--input", arguments->text,
                   "Text for a language model: a .txt file, FILE.txt#FIRST-LAST (characters), "
                   "text:WORDS, ids:1,2,3, or - for standard input")
      ->type_name("X");
  added
      ->add_option("--prompts", arguments->prompts,
                   "Prompts for CLIP and SigLIP, such as \"a photo of a {}\" with {} replaced by "
                   "the classes' names, or a file with a line for each class")
      ->type_name("TEXT|FILE")
      ->excludes("--input");
  add_choice_options(*added, arguments->choice, "Number of images, or of chunks of the text (all)");
  add_json_flag(*added, arguments->json);
  add_mechanism_options(*added, arguments->model);
  add_model_options(*added, arguments->model);
  set_examples(*added,
               {"attnscope evaluate vit.safetensors --dataset imagenet/val --count 1000",
                "attnscope evaluate clip.safetensors --dataset photos --prompts 'a photo of a {}'",
                "attnscope evaluate gpt2.safetensors --input essay.txt --json"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
