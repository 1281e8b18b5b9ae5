#include "app/cli/model_arguments.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/figure/figure_command.h"
#include "app/cli/standard_streams.h"
#include "core/architecture/model_spec_json.h"
#include "core/checkpoint/hub_cache.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/model/weights/learned_tensors.h"
#include "core/text/name_list.h"

namespace attnscope {

std::filesystem::path model_file(const std::string& text) {
  return text == "-" ? file_or_standard_input(text) : model_path(text);
}

void add_model_argument(CLI::App& command, ModelArguments& arguments, bool many, bool required,
                        const std::string& more) {
  CLI::Option* const option = command.add_option(
      "MODEL", arguments.models,
      "A weight file or a trace; - reads one from standard input; org/name or org/name@REVISION, a "
      "model in the local Hugging Face cache. MODEL@MECHANISM,KEY=VALUE,… lays "
      "another attention over only this model (attnscope list mechanisms shows them); "
      "architecture=FILE, model-heads=N, option.KEY=VALUE, channel=N and, at the end, input=X may "
      "follow the @ too, also without a mechanism: MODEL@,input=X" +
          (more.empty() ? "" : ". " + more));
  option->type_name("MODEL")->required(required);
  if (!many) option->expected(1);
}

void add_model_options(CLI::App& command, ModelArguments& arguments) {
  command
      .add_option("--model-heads", arguments.model_heads,
                  "Number of heads in each block of the model, if the file does not specify it")
      ->type_name("N")
      ->group("Model");
  command
      .add_option("--option", arguments.options,
                  "A property that the file does not specify; may be repeated. Keys: " +
                      name_list(model_options(), &ModelOption::name))
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Model");
  command
      .add_option("--architecture", arguments.architecture,
                  "A JSON architecture description (docs/architecture-descriptions.md)")
      ->type_name("FILE")
      ->group("Model");
}

void add_mechanism_options(CLI::App& command, ModelArguments& arguments, bool with_set) {
  command
      .add_option("--mechanism", arguments.mechanism,
                  "Mechanism laid over the weights of every model instead of the one they were "
                  "trained with: " +
                      name_list(mechanisms(), &MechanismEntry::name))
      ->type_name("MECHANISM")
      ->group("Mechanism");
  command
      .add_option("--codes", arguments.codes,
                  "Hash codes that attnscope learn-codes learned for this model")
      ->type_name("FILE")
      ->group("Mechanism");
  if (!with_set) return;
  command
      .add_option("--set", arguments.settings,
                  "A parameter of the mechanism, e.g. identity=true; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group("Mechanism");
}

void add_channel_option(CLI::App& command, ModelArguments& arguments, bool with_all) {
  command
      .add_option(
          "--channel", arguments.channel,
          std::string("Channel, if each channel of a head has its own map (DAFT): its number, ") +
              (with_all ? "mean, or all, one after the other" : "or mean"))
      ->type_name("N")
      ->capture_default_str()
      ->group("Mechanism");
}

void add_choice_options(CLI::App& command, ItemChoice& choice, const std::string& what) {
  command
      .add_option("--count", choice.count,
                  what + "; a smaller number is spread evenly over all of them")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command.add_option("--seed", choice.seed, "Seed of the choice of items (0)")->type_name("N");
}

void add_input_option(CLI::App& command, ModelArguments& arguments, bool several) {
  const std::string kinds =
      "An image, a .npy array, DATASET#INDEX, a .txt file, FILE.txt#FIRST-LAST "
      "(characters), a .wav sound, FILE.wav#FIRST-LAST (seconds), text:WORDS, chat:MESSAGE, "
      "\"pair:FIRST ||| SECOND\", \"ask:PICTURE ||| TEXT\", ids:1,2,3, or - for "
      "standard input; with --prompt also several pictures, FIRST.png+SECOND.png";
  command.add_option("--input", arguments.inputs, kinds + (several ? "; may be repeated" : ""))
      ->type_name("X")
      ->allow_extra_args(false);
  add_prompt_option(command, arguments.inputs);
}

void add_prompt_option(CLI::App& command, std::vector<std::string>& pictures) {
  const auto prompt = std::make_shared<std::string>();
  command
      .add_option(
          "--prompt", *prompt,
          "A question about the picture of --input, or about several, FIRST.png+SECOND.png, for "
          "models that read pictures and texts. The model's own prompt has the pictures before it; "
          "with <image> in each picture's place it is the whole prompt itself")
      ->type_name("WORDS")
      ->needs("--input");
  command.parse_complete_callback([prompt, &pictures] {
    if (prompt->empty()) return;
    for (std::string& picture : pictures) picture = question_locator(picture, *prompt);
  });
}

CLI::Option* add_data_set_option(CLI::App& command, std::string& data_set,
                                 const std::string& what) {
  return command
      .add_option("--dataset", data_set,
                  what +
                      ": IDX (also .gz), HDF5 or NPZ with images and labels, or a folder of IDX "
                      "files (t10k-…) or of class folders")
      ->type_name("DATASET");
}

ModelOptions options_of(const ModelArguments& arguments, const ModelArgument& model) {
  ModelOptions options;
  options.description = model.architecture.empty() ? arguments.architecture : model.architecture;
  for (const std::string& text : arguments.options) {
    options.overrides.insert_or_assign(split_setting(text, "--option").first,
                                       split_setting(text, "--option").second);
  }
  for (const auto& [key, value] : model.options) options.overrides.insert_or_assign(key, value);
  const std::string& heads = model.model_heads.empty() ? arguments.model_heads : model.model_heads;
  if (!heads.empty()) options.overrides["heads"] = heads;
  return options;
}

ModelArgument split_model_argument(const std::string& text) {
  std::error_code ignored;
  constexpr std::string_view own = ",input=";
  const std::string model = text.substr(0, text.find(own));
  const std::size_t at = model.rfind('@');
  ModelArgument argument;
  if (at == std::string::npos || at == 0 || std::filesystem::exists(text, ignored)) {
    argument.file = model_file(text);
    return argument;
  }
  if (model.size() < text.size()) argument.input = text.substr(model.size() + own.size());
  static_cast<ModelSettings&>(argument) = split_model_settings(model.substr(at + 1));
  // After a name of the hub, a word that is no mechanism is a revision.
  const bool is_revision = is_hub_name(model.substr(0, at)) && !names_mechanism(argument.mechanism);
  argument.file = model_file(model.substr(0, at) + (is_revision ? "@" + argument.mechanism : ""));
  if (is_revision) argument.mechanism.clear();
  return argument;
}

ModelArgument split_without_input(const std::string& text) {
  ModelArgument argument = split_model_argument(text);
  if (!argument.input.empty()) {
    throw Error(ErrorKind::usage, "all models must run on the same input")
        .expected("MODEL without an input of its own")
        .found(text);
  }
  return argument;
}

MechanismChoice choose_mechanism(const std::string& name, const std::vector<std::string>& settings,
                                 const MechanismChoice& trained) {
  std::map<std::string, std::string> texts;
  for (const std::string& text : settings) {
    const auto [key, value] = split_setting(text, "--set");
    texts[key] = value;
  }
  return choose_mechanism(name, texts, trained);
}

MechanismChoice choose_mechanism(const ModelArguments& arguments, const ModelArgument& model,
                                 const MechanismChoice& trained) {
  if (!model.mechanism.empty()) return choose_mechanism(model.mechanism, model.settings, trained);
  // FILE@,identity=true sets parameters of the mechanism laid over all models, or of the model's
  // own mechanism.
  std::vector<std::string> settings = arguments.settings;
  settings.insert(settings.end(), model.settings.begin(), model.settings.end());
  return choose_mechanism(arguments.mechanism, settings, trained);
}

MechanismArgument mechanism_argument(const ModelArguments& arguments, const ModelArgument& model,
                                     const MechanismChoice& trained) {
  if (arguments.codes.empty()) return {choose_mechanism(arguments, model, trained), nullptr};
  const std::string& name = model.mechanism.empty() ? arguments.mechanism : model.mechanism;
  const LearnedTensors learned = read_learned_codes(arguments.codes, name, "--mechanism");
  ModelArguments hashed = arguments;
  hashed.mechanism.clear();
  ModelArgument own = model;
  own.mechanism = own.mechanism.empty() ? std::string() : learned.mechanism.name;
  return {choose_mechanism(hashed, own, learned.mechanism), learned.layers};
}

std::vector<std::filesystem::path> files_of_locator(const std::string& locator) {
  if (locator.empty() || is_written_out(locator) || locator == "-") return {};
  const auto question = parts_of_question(locator);
  std::vector<std::filesystem::path> files;
  for (const std::string& one : picture_locators(question ? question->first : locator)) {
    std::error_code ignored;
    const bool exists = std::filesystem::exists(one, ignored);
    files.emplace_back(exists ? one : one.substr(0, one.rfind('#')));
  }
  return files;
}

std::vector<std::filesystem::path> files_read(const ModelArguments& arguments) {
  std::vector<std::filesystem::path> files;
  const auto add = [&files](const std::filesystem::path& file) {
    if (!file.empty()) files.push_back(file);
  };
  for (const std::string& text : arguments.models) {
    const ModelArgument model = split_model_argument(text);
    for (const std::filesystem::path& file : weight_files(model.file)) add(file);
    add(model.architecture);
    for (const std::filesystem::path& file : files_of_locator(model.input)) add(file);
  }
  for (const std::string& locator : arguments.inputs) {
    for (const std::filesystem::path& file : files_of_locator(locator)) add(file);
  }
  add(arguments.architecture);
  add(arguments.codes);
  return files;
}

std::vector<std::string> further_arguments(const ModelArguments& arguments) {
  std::vector<std::string> words;
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--mechanism", arguments.mechanism);
  add("--codes", arguments.codes);
  for (const std::string& setting : arguments.settings) add("--set-mechanism", setting);
  if (arguments.channel != "mean") add("--channel", arguments.channel);
  add("--model-heads", arguments.model_heads);
  for (const std::string& option : arguments.options) add("--option", option);
  add("--architecture", arguments.architecture);
  return words;
}

}  // namespace attnscope
