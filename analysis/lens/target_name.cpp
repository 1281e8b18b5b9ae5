#include "analysis/lens/target_name.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.h"
#include "core/nearest_name.h"
#include "core/text/name_list.h"

namespace attnscope {

namespace {

/// Index that the whole text is; −1 if it is not an integer.
std::int64_t index_in(std::string_view text) {
  std::int64_t index = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), index);
  return failure == std::errc() && end == text.data() + text.size() ? index : -1;
}

Error unknown_target(const Trace& trace, const std::string& text) {
  constexpr std::size_t most_listed = 100;
  if (trace.labels.empty()) {
    return Error(ErrorKind::usage, "the model does not name its classes")
        .expected("an index from 0")
        .found(text);
  }
  if (trace.labels.size() <= most_listed) {
    return unknown_name("class", text, name_list(trace.labels));
  }
  const std::string nearest = nearest_name(text, trace.labels);
  return Error(ErrorKind::usage, "unknown class or token '" + text + "'")
      .remedy(nearest.empty() ? "give its index, from 0" : "did you mean '" + nearest + "'?");
}

}  // namespace

std::int64_t target_named(const Trace& trace, const std::string& text, const std::string& option) {
  if (const std::int64_t index = index_in(text); index >= 0) return index;
  const auto found = std::ranges::find(trace.labels, text);
  if (found == trace.labels.end()) throw unknown_target(trace, text).about(option);
  const auto index = found - trace.labels.begin();
  if (std::find(found + 1, trace.labels.end(), text) != trace.labels.end()) {
    throw Error(ErrorKind::usage, "several classes have this name")
        .about(option)
        .expected("an index, such as " + std::to_string(index))
        .found(text);
  }
  return index;
}

std::vector<std::int64_t> targets_named(const Trace& trace, const std::string& text,
                                        const std::string& option) {
  constexpr std::int64_t longest_range = 1000;
  if (std::ranges::find(trace.labels, text) != trace.labels.end()) {
    return {target_named(trace, text, option)};
  }
  std::vector<std::int64_t> targets;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string one = text.substr(start, comma - start);
    const std::size_t dash = std::min(one.find('-'), one.size());
    const std::int64_t first = index_in(std::string_view(one).substr(0, dash));
    const std::int64_t last =
        dash < one.size() ? index_in(std::string_view(one).substr(dash + 1)) : std::int64_t{-1};
    if (first >= 0 && last >= first && last - first < longest_range) {
      for (std::int64_t target = first; target <= last; ++target) targets.push_back(target);
    } else {
      targets.push_back(target_named(trace, one, option));
    }
    start = comma + 1;
  }
  return targets;
}

}  // namespace attnscope
