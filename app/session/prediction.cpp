#include "app/session/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

#include "app/session/session.h"
#include "core/error.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMostLogits = std::int64_t{1} << 28;

/// The token ids that the model reads from its input.
std::vector<std::int64_t> ids_of(const Transformer& model, const Input& input) {
  TokenizedText text = tokenize_input(input, model.spec(), *model.vocabulary());
  leave_out_padding(model.spec().input.padding, input, text);
  return text.ids;
}

double loss(const Eigen::RowVectorXd& logits, std::int64_t came) {
  const double greatest = logits.maxCoeff();
  const double nats = greatest + std::log((logits.array() - greatest).exp().sum()) - logits(came);
  return std::isfinite(nats) ? nats : kUnknown;
}

}  // namespace

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
  const bool goes_on = (trace.causal && !trace.image()) || decodes;
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

double TokenLosses::bits_per_token() const {
  double sum = 0;
  std::int64_t count = 0;
  for (const double one : nats) {
    if (std::isnan(one)) continue;
    sum += one;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) / std::numbers::ln2 : kUnknown;
}

bool has_token_losses(const OpenSubject& subject) {
  const auto* const model = dynamic_cast<const Transformer*>(subject.subject.model.get());
  return model && model->vocabulary() && model->spec().is_language_model() &&
         !model->spec().has_decoder() && subject.subject.input && subject.subject.trace;
}

TokenLosses token_losses(const OpenSubject& subject, const Progress& progress) {
  if (!has_token_losses(subject)) {
    throw Error(ErrorKind::usage, "losses of tokens need a language model and a text")
        .about(subject.subject.label);
  }
  const auto& model = dynamic_cast<const Transformer&>(*subject.subject.model);
  const std::vector<std::int64_t> ids = ids_of(model, *subject.subject.input);
  if (std::ssize(ids) * model.spec().output_vocabulary() > kMostLogits) {
    throw Error(ErrorKind::usage, "the text is too long for the loss of each of its tokens")
        .expected(std::to_string(kMostLogits / model.spec().output_vocabulary()) +
                  " tokens at most")
        .found(std::to_string(ids.size()))
        .remedy("attnscope evaluate reads longer texts and reports the mean loss");
  }
  TraceRequest request;
  request.implied_maps = false;
  request.token_logits = true;
  request.parameters = subject.subject.parameters;
  if (subject.ran_with.any() && subject.unchanged) {
    // The run uses the maps of the present trace, which include an interpolation toward another
    // mechanism.
    request.change_map = [trace = subject.subject.trace](std::int64_t layer, std::int64_t head,
                                                         MatrixMap map) {
      map = trace->layers.at(static_cast<std::size_t>(layer)).implied_map.head(head);
    };
  }
  const Trace trace =
      model.run(*subject.subject.input, subject.subject.mechanism, request, progress);
  if (trace.token_logits.extent(0) != std::ssize(ids)) {
    throw Error(ErrorKind::usage, "the number of logits differs from the number of tokens")
        .expected(std::to_string(ids.size()))
        .found(std::to_string(trace.token_logits.extent(0)));
  }
  TokenLosses losses;
  losses.nats.assign(ids.size(), kUnknown);
  for (std::size_t i = 1; i < ids.size(); ++i) {
    const auto row = trace.token_logits.matrix().row(static_cast<Eigen::Index>(i - 1));
    losses.nats[i] = loss(row.cast<double>(), ids[i]);
  }
  return losses;
}

}  // namespace attnscope
