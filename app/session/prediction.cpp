#include "app/session/prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace attnscope {

std::optional<bool> Prediction::right() const {
  if (!true_class || likeliest.empty()) return std::nullopt;
  return likeliest.front().index == true_class->index;
}

namespace {

/// The readout kind if the logits are those of tokens, nullopt for classes. For a trace from a file
/// it is deduced from the layers.
std::optional<Readout> token_readout(const Subject& subject) {
  if (subject.model) {
    const Readout kind = subject.model->spec().readout.kind;
    const bool tokens = subject.model->spec().readout.gives_token_logits();
    return tokens ? std::optional(kind) : std::nullopt;
  }
  const Trace& trace = *subject.trace;
  const bool decodes = std::ranges::any_of(
      trace.layers, [](const LayerTrace& layer) { return layer.kind == LayerKind::decoder; });
  const bool goes_on = (trace.causal && !trace.image) || decodes;
  return goes_on ? std::optional(Readout::next_token) : std::nullopt;
}

}  // namespace

std::optional<Prediction> prediction_of(const Subject& subject, std::size_t most) {
  if (!subject.trace || subject.trace->logits.empty()) return std::nullopt;
  const Trace& trace = *subject.trace;
  const std::optional<Readout> of_token = token_readout(subject);
  // Logits of a masked token are not an answer.
  if (of_token == Readout::masked_token) return std::nullopt;
  const std::span<const float> logits = trace.logits.values();
  Prediction prediction;
  prediction.next_token = of_token == Readout::next_token;
  prediction.finite = std::ranges::all_of(logits, [](float one) { return std::isfinite(one); });
  if (!prediction.finite) return prediction;

  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  const auto weight = [&](float logit) { return std::exp(static_cast<double>(logit) - largest); };
  const double sum =
      std::transform_reduce(logits.begin(), logits.end(), 0.0, std::plus<>(), weight);
  const auto answer = [&](std::size_t index) {
    return Answer{
        static_cast<std::int64_t>(index),
        index < trace.labels.size() ? trace.labels[index] : "class " + std::to_string(index),
        weight(logits[index]) / sum};
  };
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t count = std::min(most, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count),
                            [&](std::size_t a, std::size_t b) {
                              return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
                            });
  for (std::size_t i = 0; i < count; ++i) prediction.likeliest.push_back(answer(order[i]));
  if (subject.input && subject.input->class_index >= 0) {
    const auto index = static_cast<std::size_t>(subject.input->class_index);
    if (index < logits.size()) prediction.true_class = answer(index);
  }
  return prediction;
}

}  // namespace attnscope
