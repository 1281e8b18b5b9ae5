#include "app/session/training_session.h"

#include <algorithm>
#include <utility>

#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "core/error.h"

namespace attnscope {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kLookMs = 50;
// Intervals between two updates of the weights shown. With the time for drawing, they are at most a
// second old; while other jobs run, updates are less frequent.
constexpr std::chrono::duration<double> kNewsEvery(0.92), kNewsAtLeast(3);
// Maximum time that one network's update waits for those of the others, which may be in a test.
constexpr std::chrono::duration<double> kTogether(0.3);

/// The folder's name for a run: "adder + I" → "adder-I".
std::string folder_name(const std::string& name) {
  std::string folder;
  for (const char sign : name) {
    const bool kept = std::isalnum(static_cast<unsigned char>(sign)) != 0;
    if (kept) folder += sign;
    if (!kept && !folder.empty() && folder.back() != '-') folder += '-';
  }
  while (folder.ends_with('-')) folder.pop_back();
  return folder.empty() ? "run" : folder;
}

/// The recipe of the variant `name`, which errors name too: "adder + I, model_heads: …".
Recipe named_recipe(const std::string& name, const ParameterValues& values) {
  try {
    return Recipe(values);
  } catch (Error& error) {
    error.about(error.subject().empty() ? name : name + ", " + error.subject());
    throw;
  }
}

/// The newest model file that the recipe has written at this step.
fs::path written_model(const LiveTraining& training, std::int64_t step) {
  std::int64_t newest = 0;
  for (const std::int64_t checkpoint : training.recipe().checkpoints()) {
    if (checkpoint <= step) newest = checkpoint;
  }
  return training.folder().model(newest);
}

}  // namespace

TrainingSession::TrainingSession(Session& session, QObject* parent)
    : QObject(parent), session_(session) {
  clock_.setInterval(kLookMs);
  connect(&clock_, &QTimer::timeout, this, &TrainingSession::look);
}

TrainingSession::~TrainingSession() = default;

void TrainingSession::begin(const std::vector<PresetVariant>& variants, const std::string& data_set,
                            const fs::path& folder) {
  std::vector<std::pair<std::string, Recipe>> wanted;
  for (const PresetVariant& variant : variants) {
    ParameterValues values = variant.recipe;
    values["dataset"] = data_set;
    std::string name = variant.name;
    const auto taken = [&](const std::string& one) {
      return std::ranges::any_of(wanted, [&](const auto& other) { return other.first == one; });
    };
    for (int number = 2; taken(name); ++number) {
      name = variant.name + " " + std::to_string(number);
    }
    wanted.emplace_back(name, named_recipe(name, values));
  }
  for (const auto& [name, recipe] : wanted) {
    begin_run_folder({folder / folder_name(name)}, recipe);
  }
  stop();
  for (const auto& [name, recipe] : wanted) add(name, {folder / folder_name(name)});
  if (rate_factor_ != 1) set_rate_factor(rate_factor_);
  start();
}

void TrainingSession::open(const fs::path& folder) {
  const std::vector<fs::path> folders = run_folders_in(folder);
  if (folders.empty()) {
    throw Error(ErrorKind::usage, "the folder holds no training run")
        .in_file(folder)
        .expected("recipe.json, or folders with one each")
        .remedy("choose a folder that attnscope train or this panel has written");
  }
  if (folders.size() > kMostVariants) {
    throw Error(ErrorKind::usage, "the folder holds too many trainings to run at once")
        .in_file(folder)
        .expected("at most " + std::to_string(kMostVariants))
        .found(std::to_string(folders.size()));
  }
  stop();
  std::vector<ParameterValues> recipes;
  for (const fs::path& one : folders) recipes.push_back(recipe_of({one}).values());
  const std::vector<std::string> names = variant_names(recipes);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const bool taken =
        std::ranges::any_of(runs_, [&](const Run& run) { return run.name == names[i]; });
    add(taken ? folders[i].filename().string() : names[i], {folders[i]});
  }
}

void TrainingSession::add(std::string name, const RunFolder& folder) {
  Run run;
  run.name = std::move(name);
  run.folder = folder;
  run.training = std::make_unique<LiveTraining>(folder, pace_);
  runs_.push_back(std::move(run));
  clock_.start();
  emit changed();
}

void TrainingSession::start() {
  for (Run& run : runs_) {
    if (run.training) run.training->start();
  }
  look();
}

void TrainingSession::pause() {
  for (Run& run : runs_) {
    if (run.training) run.training->pause();
  }
}

void TrainingSession::advance() {
  for (Run& run : runs_) {
    if (run.training) run.training->advance();
  }
}

void TrainingSession::set_rate_factor(double factor) {
  rate_factor_ = factor;
  for (Run& run : runs_) {
    if (run.training) run.training->set_rate_factor(factor);
  }
}

void TrainingSession::stop() {
  for (Run& run : runs_) {
    if (!run.training) continue;
    run.moment = run.training->moment();
    const auto ending = std::make_shared<std::unique_ptr<LiveTraining>>(std::move(run.training));
    (*ending)->pause();
    const std::string name = run.name;
    ++saving_;
    session_.jobs().submit(
        tr("Saving %1").arg(QString::fromStdString(name)),
        [ending, this, subject = run.subject](const Progress&) -> JobQueue::Delivery {
          (*ending)->check_point();
          (*ending)->wait();
          const auto snapshot = (*ending)->snapshot();
          const RunFolder folder = (*ending)->folder();
          ending->reset();
          if (!snapshot) return [this] { --saving_; };
          auto model = model_of(snapshot, folder);
          return [this, subject, model, file = folder.model(snapshot->step)] {
            --saving_;
            session_.set_model(subject, model, file);
          };
        },
        [this](const JobFailure& failure) {
          --saving_;
          if (!failure.cancelled) emit failed(QString::fromStdString(failure.what));
        },
        this, JobQueue::AtEnd::wait);
  }
  runs_.clear();
  clock_.stop();
  emit changed();
}

bool TrainingSession::is_on() const { return !runs_.empty(); }

bool TrainingSession::is_running() const {
  return std::ranges::any_of(runs_, [](const Run& run) {
    return run.moment.state == TrainingState::running || run.moment.state == TrainingState::opening;
  });
}

bool TrainingSession::settled() const {
  return std::ranges::all_of(runs_, [](const Run& run) {
    const bool rests =
        run.moment.state != TrainingState::running && run.moment.state != TrainingState::opening;
    return rests && run.job == 0 && !run.has_news();
  });
}

void TrainingSession::look() {
  bool turned = false;
  for (Run& run : runs_) {
    const TrainingMoment before = std::exchange(run.moment, run.training->moment());
    turned = turned || run.moment.state != before.state || (!run.learns() && run.moment != before);
  }
  if (turned) asked_at_ = {};
  const bool shown = follow();
  if (turned || shown) emit changed();
}

bool TrainingSession::follow() {
  const auto new_one = std::ranges::find_if(runs_, [](const Run& run) {
    return run.subject == SubjectId::none && run.moment.state != TrainingState::failed;
  });
  // New subjects are added in the order of the runs, whichever has weights first.
  if (new_one != runs_.end()) {
    if (new_one->job != 0 || !new_one->has_news()) return false;
    show_weights(*new_one);
    return true;
  }
  const std::chrono::duration<double> since = Clock::now() - asked_at_;
  if (!asked_) {
    // Results of the former weights, such as spectra and figures, are computed first unless they
    // take long.
    const bool busy = std::ranges::any_of(runs_, [this](const Run& run) {
      const OpenSubject* const open = session_.find(run.subject);
      return run.job != 0 || (open && open->job != 0);
    });
    if (busy || since < (session_.idle() ? kNewsEvery : kNewsAtLeast)) return false;
    for (Run& run : runs_) run.training->ask_for_news();
    asked_ = true;
    asked_at_ = Clock::now();
    return false;
  }
  // All updates are shown together, to draw views of several subjects only once.
  const bool all =
      std::ranges::none_of(runs_, [](const Run& run) { return run.learns() && !run.has_news(); });
  if (!all && since < kTogether) return false;
  asked_ = false;
  if (std::ranges::none_of(runs_, &Run::has_news)) return false;
  emit session_.weights_coming();
  for (Run& run : runs_) {
    if (run.has_news()) show_weights(run);
  }
  return true;
}

void TrainingSession::show_weights(Run& run) {
  const auto snapshot = run.training->snapshot();
  // The user closed the subject; training continues without being shown.
  if (run.subject != SubjectId::none && !session_.find(run.subject)) {
    run.shown = snapshot;
    return;
  }
  run.job = session_.jobs().submit(
      tr("Weights of %1").arg(QString::fromStdString(run.name)),
      [this, name = run.name, snapshot, folder = run.folder,
       file = written_model(*run.training, snapshot->step)](const Progress&) -> JobQueue::Delivery {
        auto model = model_of(snapshot, folder);
        return [this, name, model, file, snapshot] {
          if (Run* const run = found(name)) take_model(*run, model, file, snapshot);
        };
      },
      [this, name = run.name](const JobFailure& failure) {
        if (Run* const run = found(name)) run->job = 0;
        if (!failure.cancelled) emit failed(QString::fromStdString(failure.what));
      },
      this);
}

void TrainingSession::take_model(Run& run, const std::shared_ptr<const Model>& model,
                                 const fs::path& file,
                                 const std::shared_ptr<const TrainingSnapshot>& snapshot) {
  run.job = 0;
  run.shown = snapshot;
  if (run.subject != SubjectId::none) return session_.set_model(run.subject, model, file);
  run.subject = session_.add_model(model, file);
  session_.rename(run.subject, run.name);
}

TrainingSession::Run* TrainingSession::found(const std::string& name) {
  const auto found = std::ranges::find(runs_, name, &Run::name);
  return found == runs_.end() ? nullptr : &*found;
}

}  // namespace attnscope
