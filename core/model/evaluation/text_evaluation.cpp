#include "core/model/evaluation/text_evaluation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <tbb/parallel_for.h>

#include "core/error.h"
#include "core/input/text_file.h"
#include "core/model/causal_lm.h"

namespace attnscope {

namespace {

/// Foretells `next[i]` from the tokens up to i.
TextEvaluation judge(const Model& model, const MechanismChoice& mechanism,
                     std::vector<std::int64_t> ids, std::span<const std::int64_t> next) {
  TraceRequest request;
  request.implied_maps = false;
  request.token_logits = true;
  Input input;
  input.content = Text{{}, std::move(ids)};
  const Trace trace = model.run(input, mechanism, request, {});
  TextEvaluation result;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const auto row = trace.token_logits.matrix().row(static_cast<Eigen::Index>(i));
    const Eigen::RowVectorXd logits = row.cast<double>();
    const double greatest = logits.maxCoeff();
    const double nats =
        greatest + std::log((logits.array() - greatest).exp().sum()) - logits(next[i]);
    ++result.predicted;
    if (!std::isfinite(nats)) {
      ++result.not_finite;
      continue;
    }
    result.nats += nats;
    result.correct += logits(next[i]) == greatest;
  }
  return result;
}

std::int64_t characters_in(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  });
}

}  // namespace

double TextEvaluation::bits_per_token() const {
  const std::int64_t counted = predicted - not_finite;
  return counted ? nats / std::numbers::ln2 / static_cast<double>(counted) : 0;
}

double TextEvaluation::bits_per_character() const {
  return characters ? nats / std::numbers::ln2 / static_cast<double>(characters) : 0;
}

TextEvaluation evaluate_text(const Model& model, const MechanismChoice& mechanism, const Text& text,
                             std::int64_t stretches, const Progress& progress) {
  const auto* const language_model = dynamic_cast<const CausalLm*>(&model);
  if (!language_model) {
    throw Error(ErrorKind::usage, model.spec().reads_texts()
                                      ? "a text classifier does not foretell a text"
                                      : "a model of images cannot read a text")
        .in_file(model.file());
  }
  const ModelSpec& spec = model.spec();
  const TokenizedText tokens = tokenize(text, spec, language_model->vocabulary(), true);
  const std::int64_t foretold = std::ssize(tokens.ids) - 1;
  if (foretold < 1) {
    throw Error(ErrorKind::usage, "the text is too short to foretell anything")
        .expected("two tokens or more");
  }
  std::int64_t count = (foretold + spec.context - 1) / spec.context;
  if (stretches > 0) count = std::min(count, stretches);
  std::vector<TextEvaluation> parts(static_cast<std::size_t>(count));
  std::atomic<std::int64_t> done{0};
  tbb::parallel_for(std::int64_t{0}, count, [&](std::int64_t i) {
    progress.step(static_cast<double>(done) / static_cast<double>(count), "stretches read");
    const std::int64_t first = i * spec.context;
    const std::int64_t length = std::min(spec.context, foretold - first);
    const auto begin = tokens.ids.begin() + first;
    parts[static_cast<std::size_t>(i)] =
        judge(model, mechanism, {begin, begin + length},
              std::span(tokens.ids)
                  .subspan(static_cast<std::size_t>(first) + 1, static_cast<std::size_t>(length)));
    ++done;
  });
  progress.step(1, "stretches read");
  TextEvaluation result;
  for (const TextEvaluation& part : parts) {
    result.predicted += part.predicted;
    result.nats += part.nats;
    result.correct += part.correct;
    result.not_finite += part.not_finite;
  }
  const bool knows_texts = spec.tokenizer != Tokenizer::ids || !spec.labels.empty();
  for (std::int64_t i = 1; i <= result.predicted; ++i) {
    result.characters += knows_texts ? characters_in(tokens.texts[static_cast<std::size_t>(i)]) : 1;
  }
  return result;
}

}  // namespace attnscope
