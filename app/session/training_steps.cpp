#include "app/session/training_steps.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "app/session/job_queue.h"
#include "app/session/session.h"
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
}

void TrainingSteps::open(const std::filesystem::path& folder) {
  Series one;
  one.models = checkpoint_series(folder);
  one.name = name_of_folder(folder);
  const bool first = series_.empty();
  series_.push_back(std::move(one));
  const std::int64_t step = first ? series_.back().models.back().step : steps_.at(place_);
  collect_steps();
  go_to(last_until(steps_, step));
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
  emit changed();
}

void TrainingSteps::go_to(std::size_t place) {
  if (steps_.empty()) return;
  place_ = std::min(place, steps_.size() - 1);
  for (std::size_t i = 0; i < series_.size(); ++i) follow(i);
  emit changed();
}

void TrainingSteps::follow(std::size_t index) {
  Series& one = series_[index];
  one.wanted = last_until(one.models, steps_[place_], &SeriesModel::step);
  const bool shown = one.subject != SubjectId::none && one.at == one.wanted;
  if (!shown && one.job == 0) read(index);
}

void TrainingSteps::read(std::size_t index) {
  Series& one = series_[index];
  const SeriesModel model = one.models[one.wanted];
  const OpenSubject* const open = session_.find(one.subject);
  const ModelOptions options = open ? open->options : ModelOptions();
  // The series is found by name, because others may have been closed in the meantime.
  const auto again = [this, name = one.name] {
    const auto found = std::ranges::find(series_, name, &Series::name);
    return found == series_.end() ? series_.size()
                                  : static_cast<std::size_t>(found - series_.begin());
  };
  one.job = session_.jobs().submit(
      tr("Opening step %1").arg(model.step),
      [this, model, options, again,
       at = one.wanted](const Progress& progress) -> JobQueue::Delivery {
        auto read = load_model(model.file, options, progress);
        return [this, again, at, read] {
          if (const std::size_t index = again(); index < series_.size()) take(index, at, read);
        };
      },
      [this, again](const JobFailure& failure) {
        if (const std::size_t index = again(); index < series_.size()) series_[index].job = 0;
        if (!failure.cancelled) emit failed(QString::fromStdString(failure.what));
        emit changed();
      },
      this);
}

void TrainingSteps::take(std::size_t index, std::size_t at,
                         const std::shared_ptr<const Model>& model) {
  series_[index].job = 0;
  series_[index].at = at;
  const SeriesModel& shown = series_[index].models[at];
  const std::string name = series_[index].name + ", step " + std::to_string(shown.step);
  if (series_[index].subject == SubjectId::none) {
    series_[index].subject = session_.add_model(model, shown.file);
  } else {
    session_.set_model(series_[index].subject, model, shown.file);
  }
  session_.rename(series_[index].subject, name);
  if (series_[index].wanted != at) read(index);
  emit changed();
}

bool TrainingSteps::settled() const {
  return std::ranges::all_of(series_, [](const Series& one) { return one.job == 0; });
}

}  // namespace attnscope
