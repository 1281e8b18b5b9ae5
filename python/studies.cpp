// Studies in Python: many runs of models, over a data set or a text, and trainings. Each keeps what
// it has done in files and resumes from there, as on the command line.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <pybind11/stl.h>
#include <utility>

#include "analysis/figure/figure_command.h"
#include "analysis/intervention/truncation.h"
#include "analysis/tables/study_report.h"
#include "analysis/tables/sweep_report.h"
#include "analysis/tables/training_report.h"
#include "analysis/training/training_study.h"
#include "core/attention/mechanism.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/text/number_text.h"
#include "python/computing.h"
#include "python/report.h"
#include "python/trace.h"

namespace attnscope::python {

namespace {

using Indices = std::vector<std::int64_t>;

/// A model with the mechanism laid over it (its own if the name is empty) and its settings.
using StudiedModel = std::tuple<PythonModel, std::string, Settings>;

std::vector<Subject> subjects_of(const std::vector<StudiedModel>& models) {
  std::vector<Subject> subjects;
  for (const auto& [of, mechanism, settings] : models) {
    Subject subject;
    subject.model = of.model;
    subject.mechanism = choose_mechanism(mechanism, settings, of.model->spec().mechanism);
    subject.label = subject_name(*of.model, subject.mechanism);
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

/// Where the questions of a study come from, and where its answers go.
struct StudyFiles {
  std::string data_set, input;
  ItemChoice choice;
  std::string out;
  bool restart = false;
};

/// Throws Error(usage) if `out` would replace a file that is read.
void check_output(const std::string& out, const std::vector<Subject>& subjects,
                  const DataSet* data_set) {
  if (out.empty()) return;
  std::vector<std::filesystem::path> read;
  for (const Subject& subject : subjects) {
    for (const std::filesystem::path& file : weight_files(subject.model->file())) {
      read.push_back(file);
    }
  }
  if (data_set) {
    for (const std::filesystem::path& file : data_set->files()) read.push_back(file);
  }
  refuse_to_overwrite(out, read);
}

StudyRequest study_of_files(const StudyFiles& files, const std::vector<Subject>& subjects) {
  if (files.data_set.empty() == files.input.empty()) {
    throw Error(ErrorKind::usage, "give a data set of images, or a text")
        .expected("dataset=DATASET or input=TEXT");
  }
  StudyRequest request;
  request.choice = files.choice;
  request.restart = files.restart;
  request.out = files.out;
  if (files.input.empty()) {
    request.data_set = open_data_set(files.data_set);
    request.data = files.data_set;
  } else {
    const Input input = open_input(files.input);
    const Text* const words = std::get_if<Text>(&input.content);
    if (!words) {
      throw Error(ErrorKind::usage, "the input is not a text")
          .about("input")
          .found(files.input)
          .remedy("images are judged with dataset=");
    }
    request.text = *words;
    request.data = files.input;
  }
  check_output(files.out, subjects, request.data_set.get());
  return request;
}

/// Runs the study; `prepare` adds its series.
template <class Prepare>
SharedReport studied(const std::vector<StudiedModel>& models, const StudyFiles& files,
                     const py::object& show, const Prepare& prepare) {
  const auto kept =
      std::make_shared<const StudyResult>(computed(show, [&](const Progress& progress) {
        const std::vector<Subject> subjects = subjects_of(models);
        StudyRequest request = study_of_files(files, subjects);
        prepare(subjects, request, progress);
        return run_study(request, progress);
      }));
  std::string heading;
  for (std::size_t index = 0; index < kept->series.size(); ++index) {
    heading += series_in_words(*kept, index);
  }
  SharedReport made =
      made_of(changes_report(*kept, {}), kept, heading, study_errors_in_words(*kept));
  made->parts["series"] = made_of(series_report(*kept), kept);
  return made;
}

/// Which part of a map is truncated, and whether its rows keep their sums; "both" means one series
/// for each.
void choose_truncations(const std::string& cut, const std::string& rows,
                        TruncationRequest& request) {
  constexpr EnumName<TruncatedMap> parts[] = {{TruncatedMap::without_identity, "without-identity"},
                                              {TruncatedMap::with_identity, "with-identity"}};
  constexpr EnumName<bool> scales[] = {{false, "as-is"}, {true, "renormalised"}};
  request.cuts = {TruncatedMap::without_identity, TruncatedMap::with_identity};
  if (cut != "both") request.cuts = {value_of(parts, cut, "truncated part of a map")};
  request.renormalise = {false, true};
  if (rows != "both") request.renormalise = {value_of(scales, rows, "scale of rows")};
}

/// A replacement of maps by its name; `other` is a head's number or a mechanism with `settings`.
Ablation ablation_by(const std::string& by, const Indices& layers, const Indices& heads,
                     const std::string& other, const Settings& settings) {
  Ablation ablation;
  ablation.where = {layers, heads};
  ablation.by = value_of(replacement_names, by, "replacement");
  const bool needs_head = ablation.by == Replacement::head;
  const bool needs_other = needs_head || ablation.by == Replacement::mechanism;
  if (needs_other == other.empty()) {
    throw Error(ErrorKind::usage,
                needs_other ? "the other head or mechanism is missing"
                            : "the argument only applies to a replacement by a head or mechanism")
        .about("other")
        .expected(needs_head    ? "other=3"
                  : needs_other ? "other='adder'"
                                : "by='head' or by='mechanism'");
  }
  if (needs_head) ablation.other_head = std::stoll(other);
  if (needs_other && !needs_head) ablation.mechanism = choose_mechanism(other, settings, {});
  return ablation;
}

SharedReport ablated_answer(const StudiedModel& model, const std::string& input,
                            const Ablation& ablation, std::size_t most, const py::object& show) {
  if (ablation.by == Replacement::mean) {
    throw Error(ErrorKind::usage, "the mean needs a data set, not one input")
        .about("by")
        .expected("dataset=");
  }
  const Subject subject = subjects_of({model}).front();
  const AblatedAnswer answer = computed(show, [&](const Progress& progress) {
    return ablate_once(subject, open_input(input), ablation, progress);
  });
  return made_of(answers_report(answer.greatest(most)), nullptr,
                 subject.label + ": " + in_words(ablation) + "; KL from the whole model " +
                     rounded_text(answer.divergence, 4) + " bits\n");
}

// --- sweep -------------------------------------------------------------------------------------

SharedReport sweep(const std::vector<StudiedModel>& models, const std::string& data_set,
                   SweepRequest request, const py::object& show) {
  const auto kept =
      std::make_shared<const SweepResult>(computed(show, [&](const Progress& progress) {
        request.subjects = subjects_of(models);
        request.data_set = open_data_set(data_set);
        request.data_set_path = data_set;
        check_output(request.out.string(), request.subjects, request.data_set.get());
        return run_sweep(request, progress);
      }));
  std::string heading = request.out.string() + ": " + swept_items_in_words(*kept);
  for (const SweepSeries& series : kept->series) heading += swept_series_in_words(series);
  SharedReport made = made_of(swept_layers_report(*kept), kept, heading);
  if (!kept->numbers.heads) return made;
  for (const SweepSeries& series : kept->series) {
    made->parts["heads of " + series.label] = made_of(swept_heads_report(series), kept);
  }
  return made;
}

// --- train -------------------------------------------------------------------------------------

/// A training that begins; a resumed one has no settings.
struct TrainingCall {
  std::string recipe;  ///< JSON; may be empty
  Settings settings;   ///< settings that override a recipe's
  std::string study, only;
  std::int64_t seeds = 3;
};

void begin_training(const std::filesystem::path& folder, const TrainingCall& call) {
  ParameterValues values;
  if (!call.recipe.empty()) values = Recipe::part_from_json(call.recipe);
  std::vector<std::string> given;
  for (const auto& [key, value] : call.settings) {
    values[key] = parse_parameter(description_of("a recipe", recipe_settings(), key), value);
    given.push_back(key);
  }
  const Recipe recipe(values);
  if (call.study.empty()) {
    // Data that do not fit the recipe are refused before any folder is made.
    (void)TrainingRun(recipe, open_training_data(recipe.data()));
    begin_run_folder({folder}, recipe);
    return;
  }
  TrainingStudy study = find_training_study(call.study);
  if (!call.only.empty()) study = with_variants(std::move(study), call.only);
  check_training_study(study, recipe, given, [](const std::string& key) { return key; });
  begin_study({folder}, study, recipe, call.seeds);
}

/// Reports a step of a run that is the part from `first` on of the whole work.
void report_step(const Progress& progress, const TrainingRun& run, double first, double part) {
  const double done = static_cast<double>(run.step()) / static_cast<double>(run.recipe().steps());
  try {
    progress.step(first + part * done, "step " + std::to_string(run.step()) + " of " +
                                           std::to_string(run.recipe().steps()) + ", loss " +
                                           fixed_text(run.log().last("steps/loss").value(), 4));
  } catch (const Cancelled&) {
    // The run itself checks for cancellation, after it has saved everything.
  }
}

SharedReport train_study_in(const StudyFolder& folder, const py::object& show) {
  const auto summary =
      std::make_shared<const StudySummary>(computed(show, [&](const Progress& progress) {
        const std::vector<StudyRun> runs = runs_of(folder);
        const double part = 1 / static_cast<double>(runs.size());
        train_study(folder, progress, [&](const StudyRun& one, const TrainingRun& run) {
          const auto place = std::ranges::find(
              runs, one.folder.folder, [](const StudyRun& other) { return other.folder.folder; });
          report_step(progress, run, part * static_cast<double>(place - runs.begin()), part);
        });
        return summarise(read_histories(folder.folder, {}));
      }));
  return made_of(training_moments_report(*summary), summary,
                 folder.folder.string() + ": " + std::string(study_of(folder).title) +
                     "\nMeans ± standard deviations over seeds (of the sample: n − 1).\n");
}

SharedReport train_in(const std::string& folder, const std::optional<TrainingCall>& begun,
                      const py::object& show) {
  if (begun) {
    compute_apart(show, [&](const Progress&) { begin_training(folder, *begun); });
  }
  const StudyFolder study{folder};
  if (std::filesystem::exists(study.description())) return train_study_in(study, show);
  const RunFolder run{folder};
  const std::unique_ptr<TrainingRun> done = computed(show, [&](const Progress& progress) {
    return train(run, progress, [&](const TrainingRun& now) { report_step(progress, now, 0, 1); });
  });
  return made_of(
      training_steps_report(done->log()), nullptr,
      training_in_words(*done, run) + run.model(done->step()).string() + " opens as any model\n");
}

}  // namespace

void bind_studies(py::module_& module) {
  using Models = const std::vector<StudiedModel>&;
  module.def("truncate", [](Models models, const std::string& data_set, const std::string& input,
                            const Indices& ranks, const Indices& layers, const Indices& heads,
                            const std::string& cut, const std::string& rows,
                            const NamedThreshold& threshold, bool baselines, std::int64_t count,
                            std::uint32_t seed, const std::string& out, bool restart,
                            const py::object& show) {
    TruncationRequest truncation{.ranks = ranks,
                                 .where = {layers, heads},
                                 .threshold = threshold_named(threshold),
                                 .baselines = baselines};
    choose_truncations(cut, rows, truncation);
    return studied(models, {data_set, input, {count, seed}, out, restart}, show,
                   [&](const std::vector<Subject>& subjects, StudyRequest& request,
                       const Progress&) { add_truncation(subjects, truncation, request); });
  });
  module.def("ablate", [](Models models, const std::string& data_set, const std::string& input,
                          const std::string& by, const std::string& other, const Settings& settings,
                          const std::string& each, const Indices& layers, const Indices& heads,
                          std::int64_t count, std::uint32_t seed, const std::string& out,
                          bool restart, const py::object& show) {
    const Ablation ablation = ablation_by(by, layers, heads, other, settings);
    const AblatedUnit unit = value_of(ablated_unit_names, each, "unit");
    return studied(
        models, {data_set, input, {count, seed}, out, restart}, show,
        [&](const std::vector<Subject>& subjects, StudyRequest& request, const Progress& progress) {
          add_ablation(subjects, ablation, unit, request, progress.silent());
        });
  });
  module.def("ablate_once",
             [](const StudiedModel& model, const std::string& input, const std::string& by,
                const std::string& other, const Settings& settings, const Indices& layers,
                const Indices& heads, std::size_t most, const py::object& show) {
               return ablated_answer(model, input, ablation_by(by, layers, heads, other, settings),
                                     most, show);
             });
  module.def("sweep", [](Models models, const std::string& data_set, const std::string& out,
                         const std::string& identity, const std::vector<double>& thresholds,
                         const std::string& share, const std::string& of, const std::string& added,
                         bool centred, bool heads, bool baselines, std::optional<double> at_entropy,
                         std::int64_t first, std::int64_t end, std::int64_t count,
                         std::uint32_t seed, bool restart, const py::object& show) {
    SweepRequest request;
    request.views = views_named(identity);
    request.first = first;
    request.end = end;
    request.choice = {count, seed};
    request.thresholds = thresholds;
    request.share = value_of(rank_share_names, share, "share of the threshold");
    request.numbers = {matrix_named(of, added, centred), heads, baselines, at_entropy};
    request.out = out;
    request.restart = restart;
    return sweep(models, data_set, std::move(request), show);
  });
  module.def("train", [](const std::string& folder, const std::string& recipe,
                         const Settings& settings, const std::string& study,
                         const std::string& only, std::int64_t seeds, const py::object& show) {
    return train_in(folder, TrainingCall{recipe, settings, study, only, seeds}, show);
  });
  module.def("resume_training", [](const std::string& folder, const py::object& show) {
    return train_in(folder, {}, show);
  });
  module.def("recipe_settings", [] {
    py::list list;
    for (const ParameterDescription& one : recipe_settings()) {
      list.append(py::make_tuple(text(one.name), text(to_string(one.default_value)),
                                 text(range_of(one)), text(one.explanation)));
    }
    return list;
  });
}

}  // namespace attnscope::python
