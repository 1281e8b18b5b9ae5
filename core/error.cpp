#include "core/error.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/nearest_name.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

/// `text` up to `longest` bytes, with an ellipsis if it is longer.
std::string shortened(const std::string& text, std::size_t longest) {
  std::size_t end = std::min(longest, text.size());
  // Moves back to the start of a character.
  while (end < text.size() && end > 0 && (text[end] & 0xC0) == 0x80) --end;
  return text.substr(0, end) + (end < text.size() ? "…" : "");
}

/// Makes quoted text from untrusted files safe: one line, no control sequences, limited length.
std::string one_line(const std::string& text) {
  std::string line = shortened(text, 1000);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return shown_text(line);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// True if the text names an option, "--of map", or a command of the program.
bool speaks_of_command_line(std::string_view text) {
  for (const std::string_view start : {std::string_view("--"), std::string_view("attnscope ")}) {
    for (std::size_t at = text.find(start); at != std::string_view::npos;
         at = text.find(start, at + 1)) {
      const std::size_t next = at + start.size();
      if (next < text.size() && is_letter(text[next])) return true;
    }
  }
  return false;
}

/// The text with the options of models as members of their dialog; empty if it still names options
/// or commands.
std::string without_command_line(std::string text) {
  replace_all(text, "--model-heads N", "the option heads=N");
  replace_all(text, "--model-heads", "heads");
  replace_all(text, "--option ", "the option ");
  return speaks_of_command_line(text) ? std::string() : text;
}

}  // namespace

Error::Error(ErrorKind kind, std::string what_went_wrong)
    : kind_(kind), message_(std::move(what_went_wrong)) {
  compose();
}

Error& Error::in_file(const std::filesystem::path& file) & {
  file_ = file;
  compose();
  return *this;
}

Error& Error::about(std::string subject) & {
  subject_ = std::move(subject);
  compose();
  return *this;
}

Error& Error::expected(std::string expected) & {
  expected_ = std::move(expected);
  compose();
  return *this;
}

Error& Error::found(std::string found) & {
  found_ = std::move(found);
  compose();
  return *this;
}

Error& Error::remedy(std::string remedy) & {
  remedy_ = std::move(remedy);
  compose();
  return *this;
}

void Error::compose() {
  line_.clear();
  if (!file_.empty()) line_ += one_line(file_.string()) + ": ";
  if (!subject_.empty()) line_ += one_line(subject_) + ": ";
  line_ += one_line(message_);
  if (!expected_.empty() && !found_.empty()) {
    line_ += " (expected " + one_line(expected_) + ", found " + one_line(found_) + ")";
  } else if (!expected_.empty()) {
    line_ += " (expected " + one_line(expected_) + ")";
  } else if (!found_.empty()) {
    line_ += " (found " + one_line(found_) + ")";
  }
  if (!remedy_.empty()) line_ += "; " + shown_lines(shortened(remedy_, 4000));
}

std::string Error::in_window() const {
  Error shown = *this;
  shown.subject_ = without_command_line(subject_);
  shown.expected_ = without_command_line(expected_);
  shown.remedy_ = without_command_line(remedy_);
  shown.compose();
  return shown.line_;
}

Error unknown_name(std::string_view kind_of_thing, std::string_view name,
                   const std::string& known_names) {
  // Splits the list of known names to find the nearest one.
  constexpr std::string_view separator = ", ";
  std::vector<std::string> known;
  for (std::size_t first = 0; first < known_names.size();) {
    const std::size_t end = std::min(known_names.find(separator, first), known_names.size());
    known.push_back(known_names.substr(first, end - first));
    first = end + separator.size();
  }
  const std::string nearest = known_names == "none" ? std::string() : nearest_name(name, known);
  return Error(ErrorKind::usage,
               "unknown " + std::string(kind_of_thing) + " '" + std::string(name) + "'")
      .remedy((nearest.empty() ? "" : "did you mean " + nearest + "? ") + "known: " + known_names);
}

}  // namespace attnscope
