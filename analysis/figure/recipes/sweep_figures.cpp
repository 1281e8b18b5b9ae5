#include "analysis/figure/recipes/sweep_figures.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "analysis/figure/caption.h"
#include "analysis/figure/series_style.h"
#include "analysis/sweep/sweep.h"

namespace attnscope {

ParameterDescription sweep_file_setting() {
  return setting::file("file", "result file of a sweep, or its unfinished work (R.h5.unfinished)");
}

ParameterDescription sweep_head_setting() {
  return setting::whole("head", 0, {.minimum = 0}, "all heads together, or one of them")
      .or_word({"all"})
      .by_default("all");
}

SweepResult sweep_shown(const Settings& read) { return read_sweep(read.text("file")); }

std::vector<SweptSeriesLook> looks_of_series(const SweepResult& result) {
  // The ending that names I is not shortened with the names of the models.
  constexpr std::string_view endings[] = {" + I", " without I"};
  std::vector<std::string> models;
  for (const SweepSeries& series : result.series) {
    models.push_back(series.label);
    const auto* const ending = std::ranges::find_if(
        endings, [&](std::string_view each) { return series.label.ends_with(each); });
    if (ending != std::end(endings)) models.back().resize(series.label.size() - ending->size());
  }
  const std::vector<std::string> shortened = short_labels(models);
  std::vector<std::string> distinct;
  std::vector<SweptSeriesLook> looks;
  for (std::size_t s = 0; s < models.size(); ++s) {
    const auto known = std::ranges::find(distinct, models[s]);
    looks.push_back({shortened[s], static_cast<std::size_t>(known - distinct.begin())});
    if (known == distinct.end()) distinct.push_back(models[s]);
    if (models[s] != result.series[s].label) {
      looks.back().label = seen_label(shortened[s], result.series[s].identity);
    }
  }
  return looks;
}

std::string sweep_in_words(const SweepResult& result) {
  std::string words = std::to_string(result.done) +
                      (result.done < result.count ? " of " + std::to_string(result.count) : "") +
                      " inputs of " + std::filesystem::path(result.data_set).filename().string();
  if (result.first > 0) words += " from " + std::to_string(result.first);
  if (result.count < result.items) {
    words += " (of " + std::to_string(result.items) + ", spread evenly, seed " +
             std::to_string(result.seed) + ")";
  }
  std::string series;
  for (const SweepSeries& one : result.series) {
    series += (series.empty() ? ": " : "; ") + one.label + " (" + one.mechanism + ")";
  }
  return words + series;
}

std::string status_of_swept_models(const SweepResult& result) {
  std::string words;
  for (const SweepSeries& one : result.series) {
    if (one.status.empty()) continue;
    const std::string sentence =
        std::filesystem::path(one.model).filename().string() + " " + one.status + ". ";
    if (words.find(sentence) == std::string::npos) words += sentence;
  }
  return words;
}

std::int64_t head_shown(const Settings& read, const SweepResult& result) {
  std::int64_t heads = 1;
  for (const SweepSeries& series : result.series) {
    for (const LayerSweep& layer : series.layers) heads = std::max(heads, layer.heads);
  }
  return read.index("head", heads).value_or(-1);
}

}  // namespace attnscope
