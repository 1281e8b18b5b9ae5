#include "analysis/lens/logit_lens.h"

#include <algorithm>
#include <numbers>
#include <numeric>

#include "analysis/intervention/answer.h"
#include "analysis/mixing/layer_inside.h"
#include "core/error.h"

namespace attnscope {

namespace {

/// Read-out of the last layer, applied to tokens at any depth.
class Reader {
 public:
  explicit Reader(const Subject& subject) : model_(transformer_of(*subject.model)) {
    const ModelSpec& spec = model_.spec();
    const auto refuse = [&](const char* what, const char* found) {
      throw Error(ErrorKind::usage, what).in_file(model_.file()).found(found);
    };
    if (model_.weights().readout.head.empty() || spec.readout.kind == Readout::none) {
      refuse("the model has no head to read tokens with", "only features");
    }
    if (model_.weights().stages.size() > 1) {
      refuse("the head reads only tokens of the last stage",
             "stages with different tokens: a pyramid, a decoder or class attention");
    }
    if (spec.readout.kind == Readout::end_token) {
      refuse("the trace does not record the token that is read", "a text read at its end token");
    }
  }

  [[nodiscard]] bool of_tokens() const { return model_.spec().readout.gives_token_logits(); }

  /// Logits [places, classes].
  [[nodiscard]] Tensor logits(const Tensor& recorded) const {
    Tensor tokens = recorded;
    const TokenReadout& readout = model_.weights().readout;
    const std::optional<LayerNorm>& after = model_.weights().stages.front().norm;
    if (after) after->apply(tokens.matrix());
    if (readout.final_norm) readout.final_norm->apply(tokens.matrix());
    if (of_tokens()) return readout.token_logits(tokens, model_.spec());
    const Tensor features = readout.features(tokens, model_.spec());
    Tensor logits = readout.classify(features, tokens, model_.spec());
    const std::int64_t classes = logits.size();
    return std::move(logits).reshaped({1, classes});
  }

 private:
  const Transformer& model_;
};

LensAnswer answer_at(const Tensor& logits, std::int64_t place, std::int64_t index,
                     const Eigen::ArrayXd& log_p, const std::vector<std::string>& labels) {
  LensAnswer answer;
  answer.index = index;
  if (index < std::ssize(labels)) answer.label = labels[static_cast<std::size_t>(index)];
  answer.logit = static_cast<double>(logits.matrix()(place, index));
  answer.probability = std::exp(log_p(index));
  return answer;
}

std::vector<std::int64_t> likeliest_of(const Eigen::ArrayXd& log_p, std::size_t most) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(log_p.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      return log_p(a) > log_p(b) || (log_p(a) == log_p(b) && a < b);
                    });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

/// Answer of the last depth at one position, to which other depths are compared.
struct FinalAnswer {
  std::int64_t index = -1;
  Eigen::ArrayXd log_p;
};

std::span<const float> row_of(const Tensor& logits, std::int64_t place) {
  const auto width = static_cast<std::size_t>(logits.shape().back());
  return logits.values().subspan(static_cast<std::size_t>(place) * width, width);
}

LensCell cell_of(const Tensor& logits, std::int64_t place, const FinalAnswer& last,
                 std::size_t most, std::int64_t target, const std::vector<std::string>& labels) {
  LensCell cell;
  cell.target.index = cell.final_answer.index = -1;
  const std::span<const float> row = row_of(logits, place);
  if (likeliest(row) < 0) return cell;
  const Eigen::ArrayXd log_p = log_probabilities(row);
  for (const std::int64_t index : likeliest_of(log_p, most)) {
    cell.likeliest.push_back(answer_at(logits, place, index, log_p, labels));
  }
  cell.entropy = -(log_p.exp() * log_p.max(-1e300)).sum() / std::numbers::ln2;
  if (target >= 0) cell.target = answer_at(logits, place, target, log_p, labels);
  if (last.index < 0) return cell;
  cell.final_answer = answer_at(logits, place, last.index, log_p, labels);
  cell.divergence =
      std::max(0.0, (last.log_p.exp() * (last.log_p - log_p)).sum()) / std::numbers::ln2;
  return cell;
}

}  // namespace

void request_for_lens(TraceRequest& request) { request.tokens = true; }

LogitLens logit_lens(const Subject& subject, std::size_t most, std::int64_t target,
                     const Progress& progress) {
  require_model_and_trace(subject);
  const Trace& trace = *subject.trace;
  const Reader reader(subject);
  std::vector<std::pair<std::int64_t, const Tensor*>> depths;
  if (!trace.embedded.empty()) depths.emplace_back(-1, &trace.embedded);
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    const Tensor& tokens = trace.layers[static_cast<std::size_t>(layer)].tokens;
    if (!tokens.empty()) depths.emplace_back(layer, &tokens);
  }
  if (depths.empty() || depths.back().first + 1 != std::ssize(trace.layers)) {
    throw Error(ErrorKind::usage, "the tokens after the last layer were not recorded")
        .remedy("record the tokens of all layers");
  }
  const Tensor final_logits = reader.logits(*depths.back().second);
  const std::int64_t places = final_logits.extent(0), classes = final_logits.extent(1);
  if (target >= classes) {
    throw Error(ErrorKind::usage, "the model has no such class")
        .expected("0 to " + std::to_string(classes - 1))
        .found(std::to_string(target));
  }
  LogitLens lens;
  lens.of_tokens = reader.of_tokens();
  if (lens.of_tokens) {
    for (std::int64_t place = 0; place < places; ++place) {
      const auto at = static_cast<std::size_t>(place);
      lens.places.push_back(at < trace.layout.texts.size() ? trace.layout.texts[at]
                                                           : std::to_string(place));
    }
  }
  std::vector<FinalAnswer> last(static_cast<std::size_t>(places));
  for (std::int64_t place = 0; place < places; ++place) {
    FinalAnswer& answer = last[static_cast<std::size_t>(place)];
    answer.index = likeliest(row_of(final_logits, place));
    if (answer.index >= 0) answer.log_p = log_probabilities(row_of(final_logits, place));
  }
  for (std::size_t i = 0; i < depths.size(); ++i) {
    progress.step(static_cast<double>(i) / static_cast<double>(depths.size()), "logit lens");
    const Tensor logits = reader.logits(*depths[i].second);
    lens.depths.push_back(depths[i].first);
    std::vector<LensCell>& row = lens.cells.emplace_back();
    for (std::int64_t place = 0; place < places; ++place) {
      row.push_back(cell_of(logits, place, last[static_cast<std::size_t>(place)], most, target,
                            trace.labels));
    }
  }
  progress.step(1, "logit lens");
  return lens;
}

}  // namespace attnscope
