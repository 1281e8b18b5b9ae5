#include "analysis/importance/importance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <variant>

#include "core/error.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();

const Tensor* logits_of(const LayerTrace& layer, ImportanceOf attention) {
  if (attention == ImportanceOf::map) return nullptr;
  const auto found = layer.quantities.find(std::string(name_of(attention)) + "_logits");
  return found == layer.quantities.end() ? nullptr : &found->second;
}

/// Window of the mechanism `choice`, 0 without a window.
std::int64_t window_of(const MechanismChoice& choice) {
  const auto found = choice.parameters.find("window");
  if (found == choice.parameters.end()) return 0;
  const auto* const window = std::get_if<std::int64_t>(&found->second);
  return window ? std::max<std::int64_t>(*window, 0) : 0;
}

void check_place(const char* what, std::int64_t place, std::int64_t count) {
  if (place >= 0 && place < count) return;
  throw Error(ErrorKind::usage, std::string("the trace has no such ") + what)
      .expected("0 to " + std::to_string(count - 1))
      .found(std::to_string(place));
}

/// Adds `share` · softmax(logits) over the positions [first, last].
void add_softmax(std::span<const float> logits, std::int64_t first, std::int64_t last, double share,
                 std::vector<double>& weights) {
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
  const auto at = [&](std::int64_t i) {
    return static_cast<double>(logits[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t i = first; i <= last; ++i) greatest = std::max(greatest, at(i));
  for (std::int64_t i = first; i <= last; ++i) sum += std::exp(at(i) - greatest);
  for (std::int64_t i = first; i <= last; ++i) {
    weights[static_cast<std::size_t>(i)] += share * std::exp(at(i) - greatest) / sum;
  }
}

}  // namespace

std::vector<ImportanceOf> importances_of(const Trace& trace, std::int64_t layer) {
  const LayerTrace& recorded = recorded_layer(trace, layer);
  std::vector<ImportanceOf> list;
  for (const ImportanceOf attention :
       {ImportanceOf::query_attention, ImportanceOf::key_attention}) {
    if (logits_of(recorded, attention)) list.push_back(attention);
  }
  if (list.empty() && !recorded.implied_map.empty()) list.push_back(ImportanceOf::map);
  return list;
}

TokenImportance token_importance(const Trace& trace, std::int64_t layer,
                                 std::optional<std::int64_t> head, ImportanceOf attention,
                                 std::int64_t end) {
  const LayerTrace& recorded = recorded_layer(trace, layer);
  const Tensor* const logits = logits_of(recorded, attention);
  if (!logits && (attention != ImportanceOf::map || recorded.implied_map.empty())) {
    throw Error(ErrorKind::usage,
                "the " + std::string(name_of(attention)) + "-attention was not recorded")
        .about("layer " + std::to_string(layer));
  }
  const Shape& source = logits ? logits->shape() : recorded.implied_map.shape();
  const std::int64_t heads = source.front(), tokens = source.back();
  if (head) check_place("head", *head, heads);
  check_place("token", end, logits ? tokens : source[1]);

  const MechanismChoice& choice = mechanism_of(trace, recorded);
  TokenImportance result;
  result.attention = attention;
  result.causal = trace.causal;
  result.window = trace.causal ? window_of(choice) : 0;
  result.end = end;
  const std::int64_t last = trace.causal ? end : tokens - 1;
  const std::int64_t first =
      result.window > 0 ? std::max<std::int64_t>(0, last - result.window + 1) : 0;
  result.weights.assign(static_cast<std::size_t>(tokens), 0);
  const double share = head ? 1.0 : 1.0 / static_cast<double>(heads);
  for (std::int64_t h = head.value_or(0); h < (head ? *head + 1 : heads); ++h) {
    if (logits) {
      add_softmax(logits->values().subspan(static_cast<std::size_t>(h * tokens),
                                           static_cast<std::size_t>(tokens)),
                  first, last, share, result.weights);
      continue;
    }
    for (std::int64_t token = first; token <= last; ++token) {
      result.weights[static_cast<std::size_t>(token)] +=
          share * static_cast<double>(recorded.implied_map.at(h, end, token));
    }
  }
  for (std::int64_t token = 0; token < tokens; ++token) {
    if (token < first || token > last) result.weights[static_cast<std::size_t>(token)] = kNotSeen;
  }
  return result;
}

std::vector<RankedToken> top_tokens(const TokenImportance& importance, std::int64_t count) {
  std::vector<RankedToken> tokens;
  for (std::size_t i = 0; i < importance.weights.size(); ++i) {
    if (std::isnan(importance.weights[i])) continue;
    tokens.push_back({static_cast<std::int64_t>(i), importance.weights[i]});
  }
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const RankedToken& a, const RankedToken& b) { return a.weight > b.weight; });
  tokens.resize(
      std::min(tokens.size(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0))));
  return tokens;
}

}  // namespace attnscope
