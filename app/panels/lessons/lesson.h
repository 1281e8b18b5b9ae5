// Lessons: Markdown with steps, questions and live experiments in fenced blocks. How to write one:
// assets/lessons/README.md.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct LessonBlock {
  enum class Kind {
    text,       ///< Markdown
    step,       ///< commands that set the program's state, one a line: step_runner.h
    question,   ///< the answer, Markdown, hidden at first
    experiment  ///< its name is the title, its settings the body: experiments/experiment.h
  };
  Kind kind = Kind::text;
  std::string title;  ///< of a step what it does; the question itself; empty for text
  std::string body;
  int line = 1;  ///< where it begins in the file
};

struct Lesson {
  std::string title;  ///< the first heading
  std::vector<LessonBlock> blocks;
};

/// Throws Error(damaged) naming the line: no heading, a fence that is never closed, a step or an
/// experiment without a title.
[[nodiscard]] Lesson parse_lesson(std::string_view markdown);

/// "key = value", one a line, of an experiment's body. Throws Error(damaged).
[[nodiscard]] std::map<std::string, std::string> experiment_settings(std::string_view body);

/// The lessons that come with the program, in their order: names of files in assets/lessons.
[[nodiscard]] std::span<const std::string_view> lesson_names();
[[nodiscard]] Lesson load_lesson(std::string_view name);
/// A teacher's own. Throws Error(io, damaged) naming the file.
[[nodiscard]] Lesson read_lesson(const std::filesystem::path& file);

}  // namespace attnscope
