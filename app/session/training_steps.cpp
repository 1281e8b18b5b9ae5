#include "app/session/training_steps.h"

#include <algorithm>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/model/model.h"

namespace attnscope {

namespace {

/// Index of the last of `items`, sorted by step, that is not after `step`; 0 if all are after it.
template <class Items, class StepOf = std::identity>
std::size_t last_until(const Items& items, std::int64_t step, StepOf step_of = {}) {
  const auto after = std::ranges::upper_bound(items, step, {}, step_of);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - items.begin() - 1, 0));
}

}  // namespace

TrainingSteps::TrainingSteps(Session& session, QObject* parent)
    : QObject(parent), session_(session) {
  connect(&session_, &Session::subjects_changed, this, &TrainingSteps::forget_closed);
  connect(&watch_, &FileWatch::entries_changed, this, &TrainingSteps::look_for_new);
  connect(&watch_, &FileWatch::changed, this, &TrainingSteps::take_file);
}

void TrainingSteps::open(const std::filesystem::path& folder) {
  if (std::ranges::find(series_, folder, &Series::folder) != series_.end()) return;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw Error(ErrorKind::io, "the folder of a training does not exist").in_file(folder);
  }
  Series one;
  one.models = checkpoints_so_far(folder);
  one.name = name_of_folder(folder);
  one.folder = folder;
  std::erase_if(series_, [](const Series& other) { return other.models.empty(); });
  const std::int64_t last = one.models.empty() ? 0 : one.models.back().step;
  const std::int64_t step = steps_.empty() ? last : steps_.at(place_);
  series_.push_back(std::move(one));
  collect_steps();
  watch_all();
  go_to(last_until(steps_, step));
}

SubjectId TrainingSteps::add(const std::string& name, std::int64_t step,
                             std::shared_ptr<const Trace> trace) {
  const bool at_end = steps_.empty() || place_ + 1 == steps_.size();
  const std::int64_t before = steps_.empty() ? step : steps_.at(place_);
  auto one = std::ranges::find_if(
      series_, [&name](const Series& other) { return other.folder.empty() && other.name == name; });
  if (one == series_.end()) {
    one = series_.emplace(series_.end());
    one->name = name;
  }
  const auto index = static_cast<std::size_t>(one - series_.begin());
  const bool is_new = !one->sent.contains(step);
  one->sent[step] = std::move(trace);
  if (is_new) {
    const auto next = std::ranges::upper_bound(one->models, step, {}, &SeriesModel::step);
    const auto place = static_cast<std::size_t>(next - one->models.begin());
    one->models.insert(next, {step, {}});
    if (one->subject != SubjectId::none && place <= one->at) ++one->at;
  } else if (one->subject != SubjectId::none && one->models[one->at].step == step) {
    show_sent(index);
  }
  collect_steps();
  go_to(at_end ? steps_.size() - 1 : last_until(steps_, before));
  return series_[index].subject;
}

void TrainingSteps::collect_steps() {
  steps_.clear();
  for (const Series& one : series_) {
    for (const SeriesModel& model : one.models) steps_.push_back(model.step);
  }
  std::ranges::sort(steps_);
  steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
}

/// Removes the trainings whose subjects the user has closed.
void TrainingSteps::forget_closed() {
  const std::size_t before = series_.size();
  const std::int64_t step = steps_.empty() ? 0 : steps_.at(place_);
  std::erase_if(series_, [this](const Series& one) {
    return one.subject != SubjectId::none && !session_.find(one.subject);
  });
  if (series_.size() == before) return;
  collect_steps();
  place_ = last_until(steps_, step);
  watch_all();
  emit changed();
}

/// Watches the models of all series, and the folders where more may appear.
void TrainingSteps::watch_all() {
  watch_.forget_entries();
  std::set<std::filesystem::path> wanted;
  for (const Series& one : series_) {
    if (one.folder.empty()) continue;
    watch_.watch_entries(one.folder);
    for (const SeriesModel& model : one.models) {
      watch_.watch_entries(model.file.parent_path());
      wanted.insert(model.file);
    }
  }
  for (const std::filesystem::path& file : watch_.paths()) {
    if (!wanted.contains(file)) watch_.forget(file);
  }
  for (const std::filesystem::path& file : wanted) watch_.watch(file);
}

/// The checkpoints that are in the folder now, complete or not; empty if there are two of a step,
/// and without a folder.
std::vector<SeriesModel> TrainingSteps::listed(Series& one) {
  if (one.folder.empty()) return {};
  try {
    return checkpoints_so_far(one.folder);
  } catch (const Error& error) {
    one.problem = error.in_window();
    emit changed();
    return {};
  }
}

/// Watches the checkpoints that have appeared until they are complete. Those that were removed are
/// left out, except the one that is shown.
void TrainingSteps::look_for_new() {
  const std::int64_t step = steps_.empty() ? 0 : steps_.at(place_);
  bool shrank = false;
  for (Series& one : series_) {
    const std::vector<SeriesModel> now = listed(one);
    if (now.empty()) continue;
    for (const SeriesModel& model : now) watch_.watch(model.file, true);
    std::vector<SeriesModel> kept;
    for (std::size_t i = 0; i < one.models.size(); ++i) {
      const SeriesModel& model = one.models[i];
      const bool is_shown = one.subject != SubjectId::none && i == one.at;
      const bool is_there = std::ranges::find(now, model.file, &SeriesModel::file) != now.end();
      if (is_shown || is_there) kept.push_back(model);
    }
    if (kept.size() == one.models.size()) continue;
    set_models(one, std::move(kept));
    shrank = true;
  }
  if (!shrank) return;
  collect_steps();
  go_to(last_until(steps_, step));
}

/// Adds a checkpoint that has become complete. If it is the one that is shown, it is shown again.
void TrainingSteps::take_file(const std::filesystem::path& file, bool exists) {
  if (!exists) return look_for_new();
  const bool at_end = steps_.empty() || place_ + 1 == steps_.size();
  const std::int64_t step = steps_.empty() ? 0 : steps_.at(place_);
  bool grew = false;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    Series& one = series_[i];
    const auto known = std::ranges::find(one.models, file, &SeriesModel::file);
    if (known != one.models.end()) {
      const auto at = static_cast<std::size_t>(known - one.models.begin());
      if (at == one.wanted && one.job == 0) read(i);
      continue;
    }
    const std::vector<SeriesModel> now = listed(one);
    const auto found = std::ranges::find(now, file, &SeriesModel::file);
    if (found == now.end()) continue;
    std::vector<SeriesModel> all = one.models;
    all.insert(std::ranges::upper_bound(all, found->step, {}, &SeriesModel::step), *found);
    set_models(one, std::move(all));
    grew = true;
  }
  if (!grew) return;
  collect_steps();
  go_to(at_end ? steps_.size() - 1 : last_until(steps_, step));
}

/// Replaces the models of a series, of which the same ones remain shown and wanted.
void TrainingSteps::set_models(Series& one, std::vector<SeriesModel> models) {
  const auto place_of = [&](std::size_t before) {
    if (before >= one.models.size()) return std::size_t{0};
    const auto found = std::ranges::find(models, one.models[before].file, &SeriesModel::file);
    return found == models.end() ? std::size_t{0}
                                 : static_cast<std::size_t>(found - models.begin());
  };
  one.at = place_of(one.at);
  one.wanted = place_of(one.wanted);
  one.models = std::move(models);
}

void TrainingSteps::go_to(std::size_t place) {
  place_ = steps_.empty() ? 0 : std::min(place, steps_.size() - 1);
  for (std::size_t i = 0; i < series_.size(); ++i) follow(i);
  emit changed();
}

void TrainingSteps::follow(std::size_t index) {
  Series& one = series_[index];
  if (one.models.empty()) return;
  one.wanted = last_until(one.models, steps_[place_], &SeriesModel::step);
  const bool shown = one.subject != SubjectId::none && one.at == one.wanted;
  if (!shown && one.job == 0) read(index);
}

void TrainingSteps::read(std::size_t index) {
  Series& one = series_[index];
  if (!one.sent.empty()) return show_sent(index);
  const SeriesModel model = one.models[one.wanted];
  const OpenSubject* const open = session_.find(one.subject);
  const ModelOptions options = open ? open->options : ModelOptions();
  // The series is found by its folder, because others may have been closed in the meantime.
  const auto again = [this, folder = one.folder] {
    const auto found = std::ranges::find(series_, folder, &Series::folder);
    return found == series_.end() ? series_.size()
                                  : static_cast<std::size_t>(found - series_.begin());
  };
  one.job = session_.jobs().submit(
      tr("Opening step %1").arg(model.step),
      [this, model, options, again](const Progress& progress) -> JobQueue::Delivery {
        auto read = load_model(model.file, options, progress);
        return [this, again, model, read] {
          if (const std::size_t index = again(); index < series_.size()) take(index, model, read);
        };
      },
      [this, again, model](const JobFailure& failure) {
        const std::size_t index = again();
        if (index == series_.size()) return;
        Series& failed = series_[index];
        failed.job = 0;
        if (!failure.cancelled) failed.problem = failure.what;
        if (failed.models[failed.wanted].file != model.file) follow(index);
        emit changed();
      },
      this);
}

/// Shows the maps that were sent for the wanted step.
void TrainingSteps::show_sent(std::size_t index) {
  Series& one = series_[index];
  one.at = one.wanted;
  const std::int64_t step = one.models[one.at].step;
  const std::string label = one.name + ", step " + std::to_string(step);
  std::shared_ptr<const Trace> trace = one.sent.at(step);
  if (one.subject == SubjectId::none) {
    one.subject = session_.add_trace(std::move(trace), label);
  } else {
    session_.take_contents(one.subject, {nullptr, std::move(trace)}, "");
  }
  session_.rename(series_[index].subject, label);
}

void TrainingSteps::take(std::size_t index, const SeriesModel& read_model,
                         const std::shared_ptr<const Model>& model) {
  Series& one = series_[index];
  one.job = 0;
  one.problem.clear();
  const auto found = std::ranges::find(one.models, read_model.file, &SeriesModel::file);
  if (found == one.models.end()) return follow(index);  // it was removed in the meantime
  one.at = static_cast<std::size_t>(found - one.models.begin());
  const std::string name = one.name + ", step " + std::to_string(read_model.step);
  if (one.subject == SubjectId::none) {
    one.subject = session_.add_model(model, read_model.file);
  } else {
    session_.set_model(one.subject, model, read_model.file);
  }
  session_.rename(series_[index].subject, name);
  if (series_[index].wanted != series_[index].at) read(index);
  emit changed();
}

bool TrainingSteps::settled() const {
  return std::ranges::all_of(series_, [](const Series& one) { return one.job == 0; });
}

}  // namespace attnscope
