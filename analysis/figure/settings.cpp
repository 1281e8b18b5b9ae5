#include "analysis/figure/settings.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/text/name_list.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

Error wrong_setting(std::string_view name, const std::string& found) {
  return Error(ErrorKind::usage, "a setting of the figure cannot have this value")
      .about(std::string(name))
      .found("'" + found + "'");
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

const std::string& Settings::text(std::string_view name) const {
  const auto found = request_.settings.find(std::string(name));
  if (found == request_.settings.end()) {
    throw Error(ErrorKind::usage, "the figure has no such setting").about(std::string(name));
  }
  return found->second;
}

double Settings::number(std::string_view name, double minimum, double maximum) const {
  const std::string& value = text(name);
  double number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  // Written so that NaN is out of range too.
  if (failure != std::errc() || end != value.data() + value.size() ||
      !(number >= minimum && number <= maximum)) {
    throw wrong_setting(name, value)
        .expected("a number from " + rounded_text(minimum) + " to " + rounded_text(maximum));
  }
  return number;
}

std::size_t Settings::choice(std::string_view name,
                             std::initializer_list<std::string_view> choices) const {
  const std::string& value = text(name);
  const auto found = std::find(choices.begin(), choices.end(), value);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  throw wrong_setting(name, value).expected("one of " + name_list(choices));
}

bool Settings::flag(std::string_view name) const {
  const std::size_t index = choice(name, {"no", "yes", "false", "true"});
  return index == 1 || index == 3;
}

std::vector<std::int64_t> Settings::indices(std::string_view name, std::int64_t count) const {
  const std::string& value = text(name);
  std::vector<std::int64_t> list;
  if (value == "all") {
    for (std::int64_t index = 0; index < count; ++index) list.push_back(index);
    return list;
  }
  const auto wrong = [&] {
    return wrong_setting(name, value)
        .expected("all, or indices from 0 to " + std::to_string(count - 1) + " such as 0,2-3");
  };
  std::string_view rest = value;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dash = item.find('-');
    const auto first = whole(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= count || *first > *last) throw wrong();
    for (std::int64_t index = *first; index <= *last; ++index) list.push_back(index);
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<IdentityView> identity_views(const Settings& settings, std::string_view name) {
  switch (settings.choice(name, {"as-is", "without", "with", "both"})) {
    case 0:
      return {IdentityView::as_is};
    case 1:
      return {IdentityView::without};
    case 2:
      return {IdentityView::with};
    default:
      return {IdentityView::without, IdentityView::with};
  }
}

void require_maps(const FigureRequest& request, std::string_view figure) {
  if (request.subjects.empty()) {
    throw Error(ErrorKind::usage, "there is nothing to draw")
        .about(std::string(figure))
        .expected("at least one model or trace");
  }
  for (const Subject& subject : request.subjects) {
    if (subject.trace == nullptr || subject.trace->tokens() == 0 || subject.trace->heads() == 0) {
      throw Error(ErrorKind::usage, "its attention maps were not recorded").about(subject.label);
    }
  }
}

SharedExtents shared_extents(const FigureRequest& request) {
  constexpr std::int64_t many = std::numeric_limits<std::int64_t>::max();
  SharedExtents least{many, many, many};
  for (const Subject& subject : request.subjects) {
    least.layers = std::min(least.layers, static_cast<std::int64_t>(subject.trace->layers.size()));
    least.heads = std::min(least.heads, subject.trace->heads());
    least.tokens = std::min(least.tokens, subject.trace->tokens());
  }
  return least;
}

}  // namespace attnscope
