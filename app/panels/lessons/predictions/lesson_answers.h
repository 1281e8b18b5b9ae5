// Answers of a student to the predictions of a lesson, and the numbers and pictures that were seen.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// One prediction of a lesson. The lists have one entry per field (prediction.h).
struct PredictionAnswer {
  std::vector<std::string> said;      ///< empty: nothing was predicted
  std::vector<std::string> seen;      ///< empty: not measured
  bool kept = false;                  ///< kept or skipped; what the prediction is about is shown
  bool compared = false;              ///< the observation has been set next to it
  std::string where;                  ///< model, map, input, threshold when it was compared
  std::string numbers;                ///< tables of the experiments: lines, cells separated by tabs
  std::vector<std::string> pictures;  ///< bytes of PNG files
};

struct LessonAnswers {
  std::string student;
  std::vector<PredictionAnswer> predictions;

  /// Makes place for the predictions of a lesson, given their numbers of fields.
  void fit(const std::vector<std::size_t>& fields);
};

/// Answers by the lesson's file.
using AllAnswers = std::map<std::string, LessonAnswers>;

/// The answers as JSON in one line, for session files; lessons without an answer are left out.
/// Empty if nothing was answered.
[[nodiscard]] std::string answers_as_text(const AllAnswers& answers);
/// Reads the text of answers_as_text. Parts that are no such answers are left out.
[[nodiscard]] AllAnswers answers_of_text(std::string_view text);

}  // namespace attnscope
