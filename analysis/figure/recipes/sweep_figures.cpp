#include "analysis/figure/recipes/sweep_figures.h"

#include <algorithm>
#include <filesystem>

#include "analysis/sweep/sweep_file.h"
#include "core/error.h"

namespace attnscope {

SweepResult sweep_shown(const Settings& read) {
  if (read.text("file").empty()) {
    throw Error(ErrorKind::usage, "which sweep?")
        .about("file")
        .remedy("--set file=R.h5; make one with attnscope sweep MODEL --dataset D --out R.h5");
  }
  return read_sweep(read.text("file"));
}

std::string sweep_in_words(const SweepResult& result) {
  std::string words = std::to_string(result.done) +
                      (result.done < result.count ? " of " + std::to_string(result.count) : "") +
                      " inputs of " + std::filesystem::path(result.data_set).filename().string();
  if (result.first > 0) words += " from " + std::to_string(result.first);
  if (result.seed && result.count < result.items) {
    words += " (of " + std::to_string(result.items) + ", spread evenly, seed " +
             std::to_string(*result.seed) + ")";
  }
  std::string series;
  for (const SweepSeries& one : result.series) {
    series += (series.empty() ? ": " : "; ") + one.label + " (" + one.mechanism + ")";
  }
  return words + series;
}

std::int64_t head_shown(const Settings& read, const SweepResult& result) {
  if (read.text("head") == "all") return -1;
  std::int64_t heads = 0;
  for (const SweepSeries& series : result.series) {
    for (const LayerSweep& layer : series.layers) heads = std::max(heads, layer.heads);
  }
  return static_cast<std::int64_t>(
      read.number("head", 0, static_cast<double>(std::max<std::int64_t>(heads, 1) - 1)));
}

}  // namespace attnscope
