// Arguments for models, mechanisms and inputs, shared by all subcommands.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/input/item_choice.h"
#include "core/model/model_settings.h"
#include "core/model/subject.h"

namespace attnscope {

/// MODEL is a weight file, a trace file, "-" for a weight file on standard input, a name of the
/// Hugging Face Hub (org/name[@REVISION], core/checkpoint/hub_cache.h), or one of these with
/// settings for that model only: FILE@MECHANISM[,KEY=VALUE…], "fashion.h5@adder,identity=true". A
/// KEY is a parameter of the mechanism (the model's own by default), channel=N, architecture=FILE,
/// model-heads=N, option.MEMBER=VALUE, or, at the end, input=LOCATOR: "fashion.h5@,input=boot.png".
struct ModelArguments {
  std::vector<std::string> models;
  std::vector<std::string> inputs;    ///< locators, see open_input
  std::string model_heads;            ///< shorthand for --option heads=N
  std::vector<std::string> options;   ///< "key=value" pairs that set members of ModelSpec
  std::string architecture;           ///< a JSON architecture description
  std::string mechanism;              ///< mechanism laid over every model; empty: the model's own
  std::vector<std::string> settings;  ///< "parameter=value" pairs of the mechanism
  std::string codes;                  ///< file of learned hash codes laid over every model
  std::string channel = "mean";       ///< recorded maps if each channel has its own: "3", "mean"
};

/// Adds MODEL, repeatable if `many`. `more` is appended to the description.
void add_model_argument(CLI::App& command, ModelArguments& arguments, bool many, bool required,
                        const std::string& more = {});
/// Adds --model-heads, --option and --architecture.
void add_model_options(CLI::App& command, ModelArguments& arguments);
/// Adds --mechanism, --codes, and --set unless the subcommand uses that name for something else.
void add_mechanism_options(CLI::App& command, ModelArguments& arguments, bool with_set = true);
/// Adds --channel.
void add_channel_option(CLI::App& command, ModelArguments& arguments, bool with_all = false);
/// Adds --count and --seed, which choose items of a data set. `what` describes the items that
/// --count counts.
void add_choice_options(CLI::App& command, ItemChoice& choice, const std::string& what);
/// Adds --input, which may be repeated with `several`, and --prompt.
void add_input_option(CLI::App& command, ModelArguments& arguments, bool several = true);
/// Adds --prompt, which makes each locator in `pictures`, the values of --input, a question about
/// it.
void add_prompt_option(CLI::App& command, std::vector<std::string>& pictures);
/// Adds --dataset.
CLI::Option* add_data_set_option(CLI::App& command, std::string& data_set, const std::string& what);

/// The file or folder of MODEL without settings: standard input for "-", and a model of the local
/// Hugging Face cache for org/name or org/name@REVISION. Throws the errors of model_path.
[[nodiscard]] std::filesystem::path model_file(const std::string& text);

/// MODEL split at its '@', unless a file with the whole name exists. Empty members: the other
/// arguments apply.
struct ModelArgument : ModelSettings {
  std::filesystem::path file;
  std::string input;
};
/// Throws Error(usage) if the part after the '@' is not a list of KEY=VALUE.
[[nodiscard]] ModelArgument split_model_argument(const std::string& text);
/// Like split_model_argument, for commands that run all models on the same input. Throws
/// Error(usage) for an input of its own.
[[nodiscard]] ModelArgument split_without_input(const std::string& text);

/// Options with which `model` is loaded. Throws Error(usage) for an option that is not key=value.
[[nodiscard]] ModelOptions options_of(const ModelArguments& arguments, const ModelArgument& model);

/// The mechanism `name` (that of `trained` if empty) with `settings` "parameter=value". Unset
/// parameters are taken from `trained` if it is the same mechanism. Throws Error(usage).
[[nodiscard]] MechanismChoice choose_mechanism(const std::string& name,
                                               const std::vector<std::string>& settings,
                                               const MechanismChoice& trained);

/// The mechanism that `model`, --mechanism and --set select for a model trained with `trained`.
/// Throws Error(usage).
[[nodiscard]] MechanismChoice choose_mechanism(const ModelArguments& arguments,
                                               const ModelArgument& model,
                                               const MechanismChoice& trained);

/// A mechanism laid over a model, with tensors learned for it separately from the model.
struct MechanismArgument {
  MechanismChoice choice;
  std::shared_ptr<const std::vector<NamedTensors>> parameters;  ///< null if there are none
};

/// The mechanism that `model` and the other arguments, --codes included, select for a model trained
/// with `trained`. Throws Error(usage) if the codes were learned for another mechanism.
[[nodiscard]] MechanismArgument mechanism_argument(const ModelArguments& arguments,
                                                   const ModelArgument& model,
                                                   const MechanismChoice& trained);

/// All files that the arguments name: weights, traces, inputs, codes and descriptions. Output must
/// not replace any of them.
[[nodiscard]] std::vector<std::filesystem::path> files_read(const ModelArguments& arguments);
/// The file or folder of a locator, without #INDEX or #FIRST-LAST, or those of several pictures;
/// none if the locator is not a file.
[[nodiscard]] std::vector<std::filesystem::path> files_of_locator(const std::string& locator);

/// The arguments other than models and inputs as command-line words; settings of the mechanism use
/// --set-mechanism.
[[nodiscard]] std::vector<std::string> further_arguments(const ModelArguments& arguments);

}  // namespace attnscope
