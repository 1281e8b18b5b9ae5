// Lessons: Markdown with steps, questions and live experiments in fenced blocks. The format is
// described in assets/lessons/README.md.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/lessons/predictions/prediction.h"

namespace attnscope {

struct LessonBlock {
  enum class Kind {
    text,        ///< Markdown
    step,        ///< commands that set the program's state, one per line: step_runner.h
    question,    ///< body: the answer as Markdown, hidden at first
    experiment,  ///< title: its name; body: its settings (experiments/experiment.h)
    summary,     ///< body: what the lesson has shown, as Markdown; no title
    prediction,  ///< title: the question; body: its fields (predictions/prediction.h)
    seen         ///< title: parts of the window whose pictures are kept; body: why, as Markdown
  };
  Kind kind = Kind::text;
  std::string title;  ///< description of a step, or the question; empty for text and summary
  std::string body;
  int line = 1;                         ///< first line in the file, from 1
  std::vector<PredictionField> fields;  ///< fields of a prediction: its body
  std::vector<std::string> pictures;    ///< parts in the title of `seen`
};

struct Lesson {
  std::string title;  ///< the first heading
  std::vector<LessonBlock> blocks;
};

/// Throws Error(damaged) naming the line if there is no heading, a fence is not closed, a step,
/// question, experiment or prediction has no title, a prediction's fields or the pictures of `seen`
/// cannot be parsed, predictions and `seen` do not alternate, or a text is asked for before the
/// last prediction.
[[nodiscard]] Lesson parse_lesson(std::string_view markdown);

/// Settings "key = value" of an experiment's body, one per line. Throws Error(damaged).
[[nodiscard]] std::map<std::string, std::string> experiment_settings(std::string_view body);

/// The lessons of the program, in order: file names in assets/lessons.
[[nodiscard]] std::span<const std::string_view> lesson_names();
[[nodiscard]] Lesson load_lesson(std::string_view name);
/// Reads a lesson from a user's file. Throws Error(io, damaged) naming the file.
[[nodiscard]] Lesson read_lesson(const std::filesystem::path& file);

}  // namespace attnscope
