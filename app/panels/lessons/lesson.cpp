#include "app/panels/lessons/lesson.h"

#include <QFile>
#include <algorithm>
#include <array>
#include <optional>

#include "app/look/theme.h"
#include "core/error.h"
#include "core/text/lines.h"

namespace attnscope {

namespace {

constexpr std::string_view kFence = "```";
constexpr std::size_t kMostBytes = 1 << 20;

Error wrong(std::string what, int line) {
  return Error(ErrorKind::damaged, std::move(what)).about("line " + std::to_string(line));
}

/// The block that a fence opens; empty if the fence is plain Markdown.
std::optional<LessonBlock> opened(std::string_view fence, int line) {
  constexpr std::pair<std::string_view, LessonBlock::Kind> kinds[] = {
      {"step", LessonBlock::Kind::step},
      {"question", LessonBlock::Kind::question},
      {"experiment", LessonBlock::Kind::experiment},
      {"summary", LessonBlock::Kind::summary},
      {"prediction", LessonBlock::Kind::prediction},
      {"seen", LessonBlock::Kind::seen}};
  const std::string_view words = without_spaces(fence.substr(kFence.size()));
  const std::string_view kind = words.substr(0, words.find(' '));
  for (const auto& [name, value] : kinds) {
    if (kind != name) continue;
    LessonBlock block;
    block.kind = value;
    block.title = without_spaces(words.substr(kind.size()));
    block.line = line;
    const bool untitled = value == LessonBlock::Kind::summary || value == LessonBlock::Kind::seen;
    if (block.title.empty() && !untitled) {
      throw wrong("a " + std::string(name) + " needs a title", line)
          .expected("```" + std::string(name) + " TITLE");
    }
    return block;
  }
  return std::nullopt;
}

void parse_predictions(Lesson& lesson) {
  const LessonBlock* open = nullptr;
  int text_line = 0;  // 0: no text is asked for yet
  for (LessonBlock& block : lesson.blocks) {
    if (block.kind == LessonBlock::Kind::seen) {
      if (!open) throw wrong("what was seen needs a prediction before it", block.line);
      open = nullptr;
      block.pictures = parse_pictures(block.title, block.line);
    }
    if (block.kind != LessonBlock::Kind::prediction) continue;
    if (open) throw wrong("a prediction must be followed by ```seen before the next", open->line);
    if (text_line != 0) throw wrong("only the last prediction may ask for a text", text_line);
    open = &block;
    block.fields = parse_prediction(block.body, block.line + 1);
    for (const PredictionField& field : block.fields) {
      if (field.kind == PredictionField::Kind::text) text_line = block.line;
    }
  }
  if (open) throw wrong("a prediction must be followed by ```seen", open->line);
}

}  // namespace

Lesson parse_lesson(std::string_view markdown) {
  Lesson lesson;
  LessonBlock text, block;
  bool inside = false, in_code = false;
  const auto close_text = [&] {
    text.body = std::string(without_spaces(text.body));
    if (!text.body.empty()) lesson.blocks.push_back(text);
    text = {};
  };
  int number = 0;
  for (const std::string_view line : split_lines(markdown)) {
    ++number;
    const bool is_fence = line.starts_with(kFence);
    if (inside) {
      if (is_fence) {
        // The lines of a prediction are counted for its errors.
        if (block.kind != LessonBlock::Kind::prediction) {
          block.body = std::string(without_spaces(block.body));
        }
        lesson.blocks.push_back(block);
        inside = false;
        text.line = number + 1;
      } else {
        block.body += std::string(line) + "\n";
      }
      continue;
    }
    if (is_fence && !in_code) {
      if (auto next = opened(line, number)) {
        close_text();
        block = std::move(*next);
        inside = true;
        continue;
      }
    }
    if (is_fence) in_code = !in_code;
    if (lesson.title.empty() && !in_code && line.starts_with("# ")) {
      lesson.title = std::string(without_spaces(line.substr(2)));
      continue;
    }
    if (text.body.empty()) text.line = number;
    text.body += std::string(line) + "\n";
  }
  if (inside)
    throw wrong("the block is never closed", block.line).expected("``` on a line of its own");
  close_text();
  if (lesson.title.empty())
    throw wrong("the title of the lesson is missing", 1).expected("# TITLE");
  parse_predictions(lesson);
  return lesson;
}

std::map<std::string, std::string> experiment_settings(std::string_view body) {
  std::map<std::string, std::string> settings;
  for (const std::string_view whole : split_lines(body)) {
    const std::string_view line = without_spaces(whole);
    if (line.empty()) continue;
    const std::size_t split = line.find('=');
    if (split == std::string_view::npos) {
      throw Error(ErrorKind::damaged, "a setting of an experiment has no value")
          .expected("NAME=VALUE")
          .found(std::string(line));
    }
    settings[std::string(without_spaces(line.substr(0, split)))] =
        std::string(without_spaces(line.substr(split + 1)));
  }
  return settings;
}

std::span<const std::string_view> lesson_names() {
  static constexpr std::array<std::string_view, 11> list = {
      "1-attention-maps.md",       "2-singular-values.md",    "3-adding-and-rank.md",
      "4-without-dot-products.md", "5-additive-attention.md", "6-hashing-tokens.md",
      "7-what-it-costs.md",        "8-does-rank-matter.md",   "9-watch-it-learn.md",
      "10-the-rank-lesson.md",     "11-two-inputs.md",
  };
  return list;
}

Lesson load_lesson(std::string_view name) {
  load_assets();
  return read_lesson(":/lessons/" + std::string(name));
}

Lesson read_lesson(const std::filesystem::path& file) {
  QFile source(QString::fromStdString(file.string()));
  if (!source.open(QIODevice::ReadOnly)) {
    throw Error(ErrorKind::io, "the lesson cannot be read").in_file(file);
  }
  const QByteArray text = source.read(kMostBytes + 1);
  if (static_cast<std::size_t>(text.size()) > kMostBytes) {
    throw Error(ErrorKind::damaged, "the lesson is too large").in_file(file);
  }
  return with_file(file, [&] {
    return parse_lesson(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
  });
}

}  // namespace attnscope
