// The sheet that a student hands in at the end of a lesson: one HTML file without references to
// others.
#pragma once

#include <string>
#include <vector>

#include "app/panels/lessons/predictions/lesson_answers.h"
#include "app/panels/lessons/predictions/prediction.h"

namespace attnscope {

/// One prediction of the sheet, with the answer to it.
struct SheetStep {
  std::string heading;   ///< last heading before it in the lesson; may be empty
  std::string question;  ///< text in the lesson's file
  std::vector<PredictionField> fields;
  PredictionAnswer answer;
};

struct Sheet {
  std::string lesson, student;
  std::string date;     ///< "2026-11-27"
  std::string program;  ///< program and version that computed the numbers
  std::vector<SheetStep> steps;
};

/// The sheet as HTML: for each step the question, the prediction next to what was seen, the numbers
/// with their model, map and threshold, and the pictures as data URIs. All texts are escaped, and a
/// print keeps each step's table and pictures whole.
[[nodiscard]] std::string sheet_as_html(const Sheet& sheet);

}  // namespace attnscope
