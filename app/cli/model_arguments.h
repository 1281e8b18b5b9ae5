// The arguments that say which models run on what, shared by all subcommands.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/input/item_choice.h"
#include "core/model/subject.h"

namespace attnscope {

/// MODEL is a weight file, a trace file, "-" for a weight file on standard input, or a file with
/// what holds for that model alone: FILE@MECHANISM[,KEY=VALUE…], "fashion.h5@adder,identity=true".
/// A KEY is a parameter of the mechanism (of the model's own, where none is named), or channel=N,
/// architecture=FILE, model-heads=N, or, at the end, input=LOCATOR: "fashion.h5@,input=boot.png".
struct ModelArguments {
  std::vector<std::string> models;
  std::vector<std::string> inputs;    ///< locators, see open_input
  std::string model_heads;            ///< short for --option heads=N
  std::vector<std::string> options;   ///< "key=value", members of ModelSpec
  std::string architecture;           ///< a JSON architecture description
  std::string mechanism;              ///< laid over every model; empty: each its own
  std::vector<std::string> settings;  ///< "parameter=value" of the mechanism
  std::string codes;                  ///< a file of learnt hash codes to lay over every model
  std::string channel = "mean";       ///< whose maps, where each channel has its own: "3", "mean"
};

/// MODEL, several of them if `many`. `more` follows the description.
void add_model_argument(CLI::App& command, ModelArguments& arguments, bool many, bool required,
                        const std::string& more = {});
/// --model-heads, --option, --architecture.
void add_model_options(CLI::App& command, ModelArguments& arguments);
/// --mechanism, --codes, and --set unless the subcommand uses that name for something else.
void add_mechanism_options(CLI::App& command, ModelArguments& arguments, bool with_set = true);
/// --channel.
void add_channel_option(CLI::App& command, ModelArguments& arguments, bool with_all = false);
/// A channel by its number, or none for "mean". Throws Error(usage).
[[nodiscard]] std::optional<std::int64_t> parse_channel(const std::string& text);
/// --count and --seed: which items of a data set. `what` says what --count counts.
void add_choice_options(CLI::App& command, ItemChoice& choice, const std::string& what);
/// --input, once or several times.
void add_input_option(CLI::App& command, ModelArguments& arguments);
/// --dataset.
CLI::Option* add_data_set_option(CLI::App& command, std::string& data_set, const std::string& what);

/// MODEL split at its '@', unless there is a file of the whole name. What is empty is as the other
/// arguments say.
struct ModelArgument {
  std::filesystem::path file;
  std::string mechanism;
  std::vector<std::string> settings;
  std::string channel, architecture, model_heads, input;
};
/// Throws Error(usage) for what follows the '@' and is not KEY=VALUE.
[[nodiscard]] ModelArgument split_model_argument(const std::string& text);
/// The same where all models run on the same. Throws Error(usage) for an input of its own.
[[nodiscard]] ModelArgument split_without_input(const std::string& text);

/// How `model` is to be understood. Throws Error(usage) for an option that is not key=value.
[[nodiscard]] ModelOptions options_of(const ModelArguments& arguments, const ModelArgument& model);

/// The mechanism `name` (that of `trained` if empty) with `settings` "parameter=value"; parameters
/// not set are those of `trained` where it is the same mechanism. Throws Error(usage).
[[nodiscard]] MechanismChoice choose_mechanism(const std::string& name,
                                               const std::vector<std::string>& settings,
                                               const MechanismChoice& trained);

/// What `model` and --mechanism and --set ask to lay over a model that was trained with `trained`.
/// Throws Error(usage).
[[nodiscard]] MechanismChoice choose_mechanism(const ModelArguments& arguments,
                                               const ModelArgument& model,
                                               const MechanismChoice& trained);

/// What is laid over a model: a mechanism, and tensors learnt for it apart from the model.
struct MechanismArgument {
  MechanismChoice choice;
  std::shared_ptr<const std::vector<NamedTensors>> parameters;  ///< null for none
};

/// What `model` and the other arguments ask to lay over a model that was trained with `trained`.
/// With --codes the mechanism of that file. Throws Error(usage) if it was learnt for another.
[[nodiscard]] MechanismArgument mechanism_argument(const ModelArguments& arguments,
                                                   const ModelArgument& model,
                                                   const MechanismChoice& trained);

/// The files that the arguments name: weights, traces, inputs, codes and descriptions, each as far
/// as it is a file. What is written must be none of them.
[[nodiscard]] std::vector<std::filesystem::path> files_read(const ModelArguments& arguments);
/// The file or folder of a locator: without #INDEX or #FIRST-LAST; empty if it names none.
[[nodiscard]] std::filesystem::path file_of_locator(const std::string& locator);

/// What the arguments say besides models and inputs, word by word, with --set-mechanism for the
/// mechanism's settings.
[[nodiscard]] std::vector<std::string> further_arguments(const ModelArguments& arguments);

}  // namespace attnscope
