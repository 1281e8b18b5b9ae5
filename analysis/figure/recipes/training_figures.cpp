#include "analysis/figure/recipes/training_figures.h"

#include <algorithm>

#include "core/error.h"
#include "core/file/read_file.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"

namespace attnscope {

std::vector<ParameterDescription> training_folder_settings() {
  ParameterDescription data =
      setting::file("dataset", "images that checkpoints without a log are run on");
  return {
      setting::file("folder", "a run of attnscope train, a study, or checkpoints from elsewhere"),
      std::move(data),
      setting::whole("count", 8, {1, 1e6}, "number of images of that data set, spread evenly"),
      setting::text("input", "", "one input for checkpoints without a log, in place of a data set"),
      setting::text("only", "", "trainings whose label contains this text; empty: all")};
}

std::vector<TrainingHistory> histories_shown(const Settings& read, const Progress& progress) {
  std::vector<Input> inputs;
  if (const std::string& one = read.text("input"); !one.empty()) inputs.push_back(open_input(one));
  if (const std::string& place = read.text("dataset"); !place.empty()) {
    const auto data_set = open_data_set(place);
    for (const std::int64_t item : chosen_items(data_set->size(), {read.whole("count")})) {
      inputs.push_back(data_set->item(item));
    }
  }
  std::vector<TrainingHistory> histories = read_histories(read.text("folder"), inputs, progress);
  if (const std::string& only = read.text("only"); !only.empty()) {
    std::erase_if(histories, [&](const TrainingHistory& history) {
      return history.label.find(only) == std::string::npos;
    });
    if (histories.empty()) {
      throw Error(ErrorKind::usage, "no training has this text in its label")
          .about("only")
          .in_file(read.text("folder"))
          .found(only);
    }
  }
  for (const TrainingHistory& history : histories) {
    if (!history.log.tables().empty()) return histories;
  }
  throw Error(ErrorKind::usage, "nothing is logged yet").in_file(read.text("folder"));
}

std::string histories_in_words(const Settings& read,
                               const std::vector<TrainingHistory>& histories) {
  const std::string name = name_of_folder(read.text("folder"));
  std::size_t most = 0;
  for (const HistoryGroup& group : history_groups(histories)) {
    most = std::max(most, group.histories.size());
  }
  if (most < 2) return name;
  return name + ", mean of " + std::to_string(most) + " seeds";
}

}  // namespace attnscope
