// The arguments that say which models run on what, shared by all subcommands.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/figure/needs.h"
#include "core/input/item_choice.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// MODEL is a weight file, a trace file, or either with the mechanism to lay over that model alone:
/// FILE@MECHANISM[,PARAMETER=VALUE…], "fashion.h5@adder,identity=true"; channel=N there chooses the
/// channel of that model alone, and input=LOCATOR, at the end, what it alone runs on:
/// "fashion.h5@,input=boot.png".
struct ModelArguments {
  std::vector<std::string> models;
  std::vector<std::string> inputs;    ///< locators, see open_input
  std::string heads;                  ///< short for --option heads=N
  std::vector<std::string> options;   ///< "key=value", members of ModelSpec
  std::string architecture;           ///< a JSON architecture description
  std::string mechanism;              ///< laid over every model; empty: each its own
  std::vector<std::string> settings;  ///< "parameter=value" of the mechanism
  std::string codes;                  ///< a file of learnt hash codes to lay over every model
  std::string channel = "mean";       ///< whose maps, where each channel has its own: "3", "mean"
};

/// --heads, --option, --architecture.
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

/// Throws Error(usage) for an option that is not key=value.
[[nodiscard]] ModelOptions options_of(const ModelArguments& arguments);

/// MODEL split at its '@', unless there is a file of the whole name.
struct ModelArgument {
  std::filesystem::path file;
  std::string mechanism;  ///< empty: as the other arguments say
  std::vector<std::string> settings;
  std::string channel;  ///< empty: as the other arguments say
  std::string input;    ///< empty: as the other arguments say
};
[[nodiscard]] ModelArgument split_model_argument(const std::string& text);
/// The same where all models run on the same. Throws Error(usage) for an input of its own.
[[nodiscard]] ModelArgument split_without_input(const std::string& text);

/// The mechanism `name` (that of `trained` if empty) with `settings` "parameter=value"; parameters
/// not set are those of `trained` where it is the same mechanism. Throws Error(usage).
[[nodiscard]] MechanismChoice choose_mechanism(const std::string& name,
                                               const std::vector<std::string>& settings,
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

/// Loads every model once and runs it on every input: models × inputs subjects, each with a trace,
/// in that order. A trace file is one subject, whatever the inputs. Throws Error(usage) when an
/// input or a model is missing, Error otherwise.
[[nodiscard]] std::vector<Subject> make_subjects(const ModelArguments& arguments,
                                                 const TraceRequest& request,
                                                 const Progress& progress);

/// What figures read of a run: some need more than its maps.
[[nodiscard]] TraceRequest recorded_for_figures();

/// The subjects of these arguments as a figure needs them: run on their inputs, or not.
[[nodiscard]] std::vector<Subject> subjects_for(const FigureNeeds& needs,
                                                const ModelArguments& arguments,
                                                const Progress& progress);

/// The models alone, not run: what they cost is in their extents.
[[nodiscard]] std::vector<Subject> make_subjects_without_traces(const ModelArguments& arguments);

/// What the arguments say besides models and inputs, word by word, with --set-mechanism for the
/// mechanism's settings.
[[nodiscard]] std::vector<std::string> further_arguments(const ModelArguments& arguments);

}  // namespace attnscope
