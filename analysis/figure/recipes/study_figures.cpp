#include "analysis/figure/recipes/study_figures.h"

#include <algorithm>
#include <filesystem>

#include "analysis/figure/caption.h"
#include "analysis/intervention/study.h"
#include "core/error.h"
#include "core/text/name_list.h"

namespace attnscope {

ParameterDescription study_file_setting(const std::string& command) {
  return setting::file("file", "result file of " + command + ", or its unfinished work");
}

StudyResult study_shown(const Settings& read, StudyKind kind) {
  const std::string file = read.text("file");
  StudyResult result = read_study(file);
  if (result.kind == kind) return result;
  const bool truncation = kind == StudyKind::truncation;
  throw Error(ErrorKind::usage, "the file holds another kind of study")
      .in_file(file)
      .expected(truncation ? "a result of attnscope truncate" : "a result of attnscope ablate")
      .remedy(truncation ? "attnscope figure ablation shows it"
                         : "attnscope figure rank-accuracy shows it");
}

const std::vector<OutcomeMeasure>& outcome_measures() {
  static const std::vector<OutcomeMeasure> list = {
      {"accuracy", "accuracy (%)", 100, &Outcome::accuracy, &Outcome::accuracy_error, false},
      {"accuracy-change", "change of accuracy (points)", 100, &Outcome::accuracy_change,
       &Outcome::accuracy_change_error, false},
      {"divergence", "KL from the whole model (bits)", 1, &Outcome::divergence,
       &Outcome::divergence_error, false},
      {"bits-per-character", "bits per character", 1, &Outcome::bits_per_character,
       &Outcome::bits_per_character_error, true},
      {"bits-per-token", "bits per token", 1, &Outcome::bits_per_token,
       &Outcome::bits_per_token_error, true}};
  return list;
}

const OutcomeMeasure& outcome_measure(std::string_view name) {
  for (const OutcomeMeasure& measure : outcome_measures()) {
    if (measure.name == name) return measure;
  }
  throw unknown_name("measure of answers", name,
                     name_list(outcome_measures(), &OutcomeMeasure::name));
}

std::vector<std::string> study_labels(const StudyResult& result) {
  std::vector<std::string> labels;
  for (const StudySeries& series : result.series) labels.push_back(series.label);
  return short_labels(labels);
}

std::string study_in_words(const StudyResult& result) {
  const std::string what = result.of_text ? "chunks" : "images";
  std::string words;
  for (const StudySeries& series : result.series) {
    words += (words.empty() ? "" : "; ") + series.label + " (" + series.mechanism + ", " +
             std::to_string(series.done) +
             (series.done < series.count ? " of " + std::to_string(series.count) : "") + " " +
             what + ")";
  }
  return words + " on " + std::filesystem::path(result.data).filename().string();
}

std::string errors_in_words(const StudyResult& result) {
  return result.of_text ? "standard deviation of 1000 resamples of the chunks"
                        : "standard error over the images, of the accuracy √(p(1 − p)/n)";
}

}  // namespace attnscope
