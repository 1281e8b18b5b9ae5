#include "app/panels/lessons/predictions/prediction.h"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/text/lines.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

constexpr std::string_view kFieldForms =
    "choice A | B: WHAT => SEEN, number LEAST to MOST: WHAT => SEEN, or text: WHAT";

/// The text before and after the first `sign`; the second is empty if there is none.
std::pair<std::string, std::string> split_at(std::string_view text, std::string_view sign) {
  const std::size_t at = text.find(sign);
  if (at == std::string_view::npos) return {std::string(without_spaces(text)), {}};
  return {std::string(without_spaces(text.substr(0, at))),
          std::string(without_spaces(text.substr(at + sign.size())))};
}

Error wrong_field(std::string what, int line, std::string_view found) {
  return Error(ErrorKind::damaged, std::move(what))
      .about("line " + std::to_string(line))
      .found(std::string(found));
}

std::vector<std::string> options_of(std::string_view text, int line) {
  std::vector<std::string> options;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    options.emplace_back(without_spaces(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const bool empty = std::ranges::find(options, std::string()) != options.end();
  std::vector<std::string> sorted = options;
  std::ranges::sort(sorted);
  const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
  if (options.size() < 2 || empty || twice) {
    throw wrong_field("a choice must have at least two options, all different", line, text)
        .expected("choice A | B: WHAT => SEEN");
  }
  return options;
}

void read_bounds(std::string_view text, int line, PredictionField& field) {
  const auto [least, most] = split_at(text, " to ");
  const auto low = parse_whole(least), high = parse_whole(most);
  if (!low || !high || *low >= *high) {
    throw wrong_field("a number must have two integer bounds, the lower one first", line, text)
        .expected("number 1 to 197: WHAT => SEEN");
  }
  field.least = *low;
  field.most = *high;
}

PredictionField field_of(std::string_view line_text, int line) {
  const std::size_t colon = line_text.find(':');
  const std::string_view head = without_spaces(line_text.substr(0, colon));
  const auto [kind, rest] = split_at(head, " ");
  PredictionField field;
  if (colon != std::string_view::npos) {
    std::tie(field.label, field.seen) = split_at(line_text.substr(colon + 1), "=>");
  }
  if (kind == "choice") {
    field.options = options_of(rest, line);
  } else if (kind == "number") {
    field.kind = PredictionField::Kind::number;
    read_bounds(rest, line, field);
  } else if (kind == "text") {
    field.kind = PredictionField::Kind::text;
  } else {
    throw wrong_field("a line of a prediction must begin with choice, number or text", line,
                      line_text)
        .expected(std::string(kFieldForms));
  }
  if (field.label.empty()) {
    throw wrong_field("a line of a prediction must say after a colon what is predicted", line,
                      line_text)
        .expected(std::string(kFieldForms));
  }
  const bool is_text = field.kind == PredictionField::Kind::text;
  if (is_text != field.seen.empty() || field.seen == "@") {
    throw wrong_field(is_text ? "a text has nothing that is set next to it"
                              : "a prediction must say after => what is seen",
                      line, line_text)
        .expected(std::string(kFieldForms));
  }
  return field;
}

}  // namespace

std::string PredictionField::reading() const {
  return seen.starts_with('@') ? seen.substr(1) : std::string();
}

std::vector<PredictionField> parse_prediction(std::string_view body, int line) {
  std::vector<PredictionField> fields;
  const int first = line;
  for (const std::string_view whole : split_lines(body)) {
    const std::string_view text = without_spaces(whole);
    if (!text.empty()) fields.push_back(field_of(text, line));
    ++line;
  }
  if (fields.empty()) {
    throw wrong_field("a prediction must ask for something", first, "no line")
        .expected(std::string(kFieldForms));
  }
  return fields;
}

std::vector<std::string> parse_pictures(std::string_view words, int line) {
  std::istringstream stream{std::string(words)};
  std::vector<std::string> parts;
  for (std::string part; stream >> part;) {
    const bool is_dock = part.starts_with("dock:") && part.size() > 5;
    if (part != "maps" && part != "experiment" && !is_dock) {
      throw wrong_field("a picture of what was seen must be of a known part of the window", line,
                        part)
          .expected("maps, experiment or dock:NAME");
    }
    parts.push_back(part);
  }
  return parts;
}

}  // namespace attnscope
