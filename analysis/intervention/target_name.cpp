#include "analysis/intervention/target_name.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "core/nearest_name.h"
#include "core/shown_text.h"
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

namespace {

/// The token whose text this is, the first of several; −1 if there is none.
std::int64_t token_of_text(const Transformer& model, const std::string& text) {
  for (std::int64_t id = 0; id < model.spec().output_vocabulary(); ++id) {
    if (model.vocabulary()->text_of(id) == text) return id;
  }
  return -1;
}

/// Throws Error(usage) if the text has more than one token.
void refuse_several_tokens(const Transformer& model, const std::string& text,
                           const std::string& option) {
  const std::vector<std::int64_t> ids = model.vocabulary()->encode(text);
  if (ids.size() < 2) return;
  std::string tokens;
  for (const std::int64_t id : ids) {
    tokens += " \"" + shown_text(model.vocabulary()->text_of(id)) + "\"";
  }
  throw Error(ErrorKind::usage, "the answer must be one token")
      .about(option)
      .found(std::to_string(ids.size()) + " tokens:" + tokens)
      .remedy("give its first token; a blank before a word belongs to the token");
}

}  // namespace

std::int64_t answer_index(const Model& model, const Trace& trace, const std::string& text,
                          const std::string& option) {
  const auto* const transformer = dynamic_cast<const Transformer*>(&model);
  const bool of_tokens = transformer && transformer->vocabulary() &&
                         model.spec().readout.gives_token_logits() &&
                         model.spec().tail.vocabulary == 0;
  std::int64_t answer = index_in(text);
  if (answer < 0 && of_tokens && transformer->vocabulary()->says_texts()) {
    answer = token_of_text(*transformer, text);
    if (answer < 0 && std::ranges::find(trace.labels, text) == trace.labels.end()) {
      refuse_several_tokens(*transformer, text, option);
    }
  }
  if (answer < 0) answer = target_named(trace, text, option);
  if (answer < trace.logits.size()) return answer;
  throw Error(ErrorKind::usage, "the model has no such class or token")
      .about(option)
      .expected("0 to " + std::to_string(trace.logits.size() - 1))
      .found(text);
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
