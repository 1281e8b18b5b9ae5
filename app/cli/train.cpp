// attnscope train: trains a network and keeps its checkpoints in a folder.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/tables/training_report.h"
#include "analysis/training/run_folder.h"
#include "analysis/training/study_summary.h"
#include "analysis/training/training_history.h"
#include "analysis/training/training_study.h"
#include "app/cli/command_table.h"
#include "app/cli/interruption.h"
#include "app/cli/subcommand.h"
#include "app/cli/terminal_progress.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/file/read_file.h"
#include "core/parameters/parameters_json.h"
#include "core/text/json.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

/// Prints the end of --study: accuracies and ranks of every variant untrained, at equal steps and
/// at equal accuracy, each also at equal entropy.
void print_study(const StudyFolder& folder) {
  const StudySummary summary = summarise(read_histories(folder.folder, {}));
  std::printf("%s: %s\n", folder.folder.string().c_str(),
              std::string(study_of(folder).title).c_str());
  std::printf("Means ± standard deviations over seeds (of the sample: n − 1).\n");
  const auto print_moment = [&summary](const std::string& heading, const char* moment) {
    std::printf("\n%s:\n%s", heading.c_str(),
                report_as_text(training_moments_report(summary, moment)).c_str());
  };
  print_moment("Untrained", kUntrained);
  print_moment("At equal steps, " + std::to_string(summary.equal_step), kEqualSteps);
  if (!summary.at_equal_accuracy.empty()) {
    print_moment("At equal accuracy, " + fixed_text(100 * summary.equal_accuracy, 2) + " %",
                 kEqualAccuracy);
  }
  std::printf("\nattnscope figure over-training --set folder=%s --out over-training.pdf draws it\n",
              folder.folder.string().c_str());
}

struct TrainArguments {
  std::string recipe, out, study, only, model;
  std::int64_t seeds = 3;
  std::map<std::string, std::string> settings;  ///< key → value as given by the flag
  bool resume = false, print_recipe = false;
};

constexpr std::size_t kLongestRecipe = std::size_t{1} << 20;  // bytes

/// The flag of a recipe's key: "warm_up" → "--warm-up".
std::string flag_of(const std::string& key) {
  std::string flag = "--" + key;
  for (char& sign : flag) {
    if (sign == '_') sign = '-';
  }
  return flag;
}

/// The recipe from the file's settings, overridden by the flags.
Recipe recipe_of_arguments(const TrainArguments& arguments) {
  ParameterValues values;
  if (!arguments.recipe.empty()) {
    values = with_file(arguments.recipe, [&] {
      return Recipe::part_from_json(read_file(arguments.recipe, kLongestRecipe));
    });
  }
  for (const auto& [key, text] : arguments.settings) {
    if (text.empty()) continue;
    values[key] = parse_parameter(description_of("a recipe", recipe_settings(), key), text);
  }
  return Recipe(values);
}

/// A progress line with the run's step, loss and speed.
class StepLine {
 public:
  explicit StepLine(const Progress& progress) : progress_(progress) {}

  /// `before`: start of the line; `first`: completed share of the whole work; `part`: share of this
  /// run.
  void operator()(const TrainingRun& run, const std::string& before = {}, double first = 0,
                  double part = 1) {
    if (first_step_ < 0 || run.step() <= first_step_) {
      first_step_ = run.step() - 1;
      began_ = std::chrono::steady_clock::now();
    }
    const double loss = run.log().last("steps/loss").value();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
    const auto examples =
        static_cast<double>((run.step() - first_step_) * run.recipe().data().batch);
    const double done = static_cast<double>(run.step()) / static_cast<double>(run.recipe().steps());
    try {
      progress_.step(first + part * done,
                     before + "step " + std::to_string(run.step()) + " of " +
                         std::to_string(run.recipe().steps()) + ", loss " + fixed_text(loss, 4) +
                         ", " + fixed_text(examples / passed.count(), 0) + " examples/s");
    } catch (const Cancelled&) {
      // The run itself checks for cancellation, after it has saved everything.
    }
  }

 private:
  const Progress& progress_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::int64_t first_step_ = -1;
};

void print(const TrainingRun& run, const RunFolder& folder, const std::string& model) {
  std::printf("%s\n%s", training_in_words(run, folder).c_str(),
              report_as_text(training_steps_report(run.log())).c_str());
  const std::string written = model.empty() ? folder.model(run.step()).string() : model;
  std::printf("\n%s opens as any model\n", written.c_str());
}

/// Throws Error(usage) if a recipe, study or setting is given, because a resumed run keeps its own
/// recipe.
void refuse_recipe(const TrainArguments& arguments) {
  std::string given = arguments.recipe;
  if (!arguments.study.empty()) given = "--study";
  if (!arguments.only.empty()) given = "--only";
  for (const auto& [key, text] : arguments.settings) {
    if (!text.empty()) given = flag_of(key);
  }
  if (given.empty()) return;
  throw Error(ErrorKind::usage, "a resumed run keeps the recipe that it began with")
      .about(given)
      .remedy("leave it out, or begin another run");
}

/// Throws Error(usage) if --model would replace the data, the initial model, the recipe, or one of
/// the run's own files.
void check_model_replaces_nothing(const TrainArguments& arguments, const RunFolder& folder,
                                  const Recipe& recipe) {
  if (arguments.model.empty()) return;
  const std::vector<std::filesystem::path> read = {
      recipe.data().dataset, recipe.data().test_dataset, recipe.from(), arguments.recipe};
  refuse_to_overwrite(arguments.model, read);
  refuse_to_overwrite_read(arguments.model);
  const auto place = [](const std::filesystem::path& file) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file));
  };
  for (const std::filesystem::path& own : {folder.recipe(), folder.state(), folder.log()}) {
    if (place(own) != place(arguments.model)) continue;
    throw Error(ErrorKind::usage, "a file of the run has the same path")
        .about("--model")
        .found(arguments.model)
        .remedy("give the model another name");
  }
}

/// Checks before the training that the model can be written to --model. Throws Error(usage).
void check_model_file(const TrainArguments& arguments, const StudyFolder& folder) {
  if (arguments.model.empty()) return;
  if (!arguments.study.empty() ||
      (arguments.resume && std::filesystem::exists(folder.description()))) {
    throw Error(ErrorKind::usage, "a study writes one model per run, each in the run's folder")
        .about("--model")
        .remedy("leave it out");
  }
  const std::filesystem::path parent = std::filesystem::absolute(arguments.model).parent_path();
  if (std::filesystem::is_directory(parent)) return;
  throw Error(ErrorKind::usage, "the folder of the file does not exist")
      .about("--model")
      .in_file(parent);
}

void begin(const TrainArguments& arguments, const RunFolder& folder) {
  const Recipe recipe = recipe_of_arguments(arguments);
  // Data that do not fit the recipe are refused before any folder is made.
  (void)TrainingRun(recipe, open_training_data(recipe.data()));
  check_model_replaces_nothing(arguments, folder, recipe);
  begin_run_folder(folder, recipe);
}

void begin_study(const TrainArguments& arguments, const StudyFolder& folder) {
  TrainingStudy study = find_training_study(arguments.study);
  if (!arguments.only.empty()) study = with_variants(std::move(study), arguments.only);
  const Recipe recipe = recipe_of_arguments(arguments);
  std::vector<std::string> given;
  for (const auto& [key, text] : arguments.settings) {
    if (!text.empty()) given.push_back(key);
  }
  check_training_study(study, recipe, given, flag_of);
  begin_study(folder, study, recipe, arguments.seeds);
}

std::unique_ptr<TrainingRun> train_to_the_end(const RunFolder& folder) {
  const Interruption interruption;
  const TerminalProgress line(interruption.token());
  StepLine steps(line.progress());
  return train(folder, line.progress(), [&](const TrainingRun& run) { steps(run); });
}

/// Returns after every run of the study has ended.
void train_all(const StudyFolder& folder) {
  const std::vector<StudyRun> runs = runs_of(folder);
  const Interruption interruption;
  const TerminalProgress line(interruption.token());
  StepLine steps(line.progress());
  const auto all = static_cast<double>(runs.size());
  train_study(folder, line.progress(), [&](const StudyRun& one, const TrainingRun& run) {
    const auto place = std::find_if(runs.begin(), runs.end(), [&](const StudyRun& other) {
      return other.folder.folder == one.folder.folder;
    });
    const auto done = static_cast<double>(place - runs.begin());
    steps(run, one.folder.folder.filename().string() + ", ", done / all, 1 / all);
  });
}

/// Placeholder for the value in the help text, as in other commands.
std::string placeholder_of(const ParameterDescription& one) {
  static const std::map<std::string_view, const char*> texts = {
      {"dataset", "DATASET"},     {"test_dataset", "DATASET"},      {"labels", "NAME,…"},
      {"stages", "NxDxH,…"},      {"mechanism", "MECHANISM"},       {"from", "MODEL"},
      {"from_without", "PART,…"}, {"multiplicative_layers", "N,…"}, {"windows", "N,…"}};
  switch (one.kind) {
    case ParameterKind::whole:
      return "N";
    case ParameterKind::number:
      return "X";
    case ParameterKind::flag:
      return "true|false";
    case ParameterKind::choice: {
      std::string all;
      for (const std::string& choice : one.choices) all += (all.empty() ? "" : "|") + choice;
      return all;
    }
    default:
      return texts.at(one.name);
  }
}

int run(const TrainArguments& arguments) {
  if (arguments.print_recipe) {
    std::printf("%s", recipe_of_arguments(arguments).to_json().c_str());
    return 0;
  }
  if (arguments.out.empty()) {
    throw Error(ErrorKind::usage, "the folder of the run is missing").about("--out");
  }
  const RunFolder folder{arguments.out};
  const StudyFolder study{arguments.out};
  check_model_file(arguments, study);
  if (arguments.resume) {
    refuse_recipe(arguments);
    if (!arguments.model.empty()) {
      const Recipe recipe = recipe_of(folder);
      (void)open_training_data(recipe.data());
      check_model_replaces_nothing(arguments, folder, recipe);
    }
  } else if (!arguments.study.empty()) {
    begin_study(arguments, study);
  } else if (!arguments.only.empty()) {
    throw Error(ErrorKind::usage, "only a study has variants").about("--only").expected("--study");
  } else {
    begin(arguments, folder);
  }
  try {
    if (std::filesystem::exists(study.description())) {
      train_all(study);
      print_study(study);
    } else {
      const std::unique_ptr<TrainingRun> done = train_to_the_end(folder);
      if (!arguments.model.empty()) {
        const std::filesystem::path file = arguments.model;
        refuse_to_overwrite_read(file);
        done->write_model(file, file.stem().string());
      }
      print(*done, folder, arguments.model);
    }
  } catch (const Cancelled&) {
    std::fprintf(stderr, "interrupted; attnscope train --out '%s' --resume continues\n",
                 arguments.out.c_str());
    return kInterruptedStatus;
  }
  return 0;
}

}  // namespace

Action add_train(CLI::App& parent, CLI::App*& added) {
  auto arguments = std::make_shared<TrainArguments>();
  added = parent.add_subcommand("train", "Train a network and follow its attention step by step");
  added->add_option("recipe", arguments->recipe, "A recipe: JSON, its keys as the options below")
      ->type_name("FILE");
  added->add_option("--out", arguments->out, "The run's folder")->type_name("DIR");
  added
      ->add_option("--model", arguments->model,
                   "Further file for the model after the last step, which takes its name")
      ->type_name("FILE.h5");
  added->add_flag("--resume", arguments->resume, "Resume the run in that folder");
  added
      ->add_option("--study", arguments->study,
                   "Compare: " + name_list(training_studies(), &TrainingStudy::name) +
                       "; the other options are what all its runs share")
      ->type_name("STUDY");
  added
      ->add_option("--only", arguments->only,
                   "Variants of a study, with commas between: their names, or texts that their "
                   "names or labels contain (all)")
      ->type_name("TEXT,…");
  added->add_option("--seeds", arguments->seeds, "Runs per variant of a study (3)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}));
  added->add_flag("--print-recipe", arguments->print_recipe,
                  "Print the whole recipe and train nothing");
  for (const ParameterDescription& one : recipe_settings()) {
    const std::string otherwise = to_string(one.default_value);
    added
        ->add_option(flag_of(one.name), arguments->settings[one.name],
                     one.explanation + (otherwise.empty() ? "" : " (" + otherwise + ")"))
        ->type_name(placeholder_of(one));
  }
  set_examples(*added,
               {"attnscope train --dataset /usr/share/datasets/fashion-mnist --out run",
                "attnscope train --study adder-rank --seeds 3 --dataset images --out study",
                "attnscope train --study adder-width --only 64x1,8x8 --dataset images --out widths",
                "attnscope train --dataset images --mechanism adder,identity=true --out run",
                "attnscope train --out run --resume"});
  return [arguments] { return run(*arguments); };
}

}  // namespace attnscope
