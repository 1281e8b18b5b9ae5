#include "core/model/evaluation/text_evaluation.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <tbb/parallel_for.h>

#include "core/error.h"
#include "core/input/text.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

TextEvaluation judge_text(const Model& model, const MechanismChoice& mechanism,
                          const TextChunk& chunk) {
  TraceRequest request;
  request.implied_maps = false;
  request.token_logits = true;
  Input input;
  input.content = Text{{}, chunk.ids};
  const Trace trace = model.run(input, mechanism, request, {});
  const std::vector<std::int64_t>& next = chunk.next;
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
    result.characters += chunk.characters[i];
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
  return counted ? nats / std::numbers::ln2 / static_cast<double>(counted) : kUnknown;
}

double TextEvaluation::bits_per_character() const {
  return characters ? nats / std::numbers::ln2 / static_cast<double>(characters) : kUnknown;
}

namespace {

/// Number of tokens read at once: the model's context, limited by the memory of the logits.
std::int64_t chunk_length(const ModelSpec& spec) {
  constexpr std::int64_t most = 2048;
  return spec.input.context > 0 ? std::min(spec.input.context, most) : most;
}

}  // namespace

std::vector<TextChunk> text_chunks(const Model& model, const Text& text) {
  const auto* const language_model = find_transformer(model);
  if (model.spec().has_decoder()) {
    throw Error(ErrorKind::usage, "encoder-decoder models cannot be evaluated as language models")
        .in_file(model.file())
        .expected("a language model")
        .remedy("attnscope trace MODEL --input 'pair:FIRST ||| SECOND' runs it on a pair");
  }
  if (!language_model || !model.spec().is_language_model()) {
    throw Error(ErrorKind::usage, model.spec().reads_texts()
                                      ? "a text classifier does not predict the next token"
                                      : "a model of images cannot read a text")
        .in_file(model.file());
  }
  const ModelSpec& spec = model.spec();
  const TokenizedText tokens = tokenize(text, spec, *language_model->vocabulary(), true);
  const std::int64_t to_predict = std::ssize(tokens.ids) - 1;
  if (to_predict < 1) {
    throw Error(ErrorKind::usage, "the text is too short to predict anything in it")
        .expected("two tokens or more");
  }
  const std::int64_t context = chunk_length(spec);
  const bool knows_texts = language_model->vocabulary()->says_texts();
  std::vector<std::int64_t> characters(tokens.ids.size(), 0);
  for (std::size_t i = 0; knows_texts && i < characters.size(); ++i) {
    characters[i] = characters_in(tokens.texts[i]);
  }
  for (const std::int64_t special : tokens.special) {  // special tokens stand for no text
    characters[static_cast<std::size_t>(special)] = 0;
  }
  std::vector<TextChunk> chunks;
  for (std::int64_t first = 0; first < to_predict; first += context) {
    const std::int64_t length = std::min(context, to_predict - first);
    const auto begin = tokens.ids.begin() + first;
    const auto said = characters.begin() + first + 1;
    chunks.push_back(
        {{begin, begin + length}, {begin + 1, begin + 1 + length}, {said, said + length}});
  }
  return chunks;
}

TextEvaluation evaluate_text(const Model& model, const MechanismChoice& mechanism, const Text& text,
                             const ItemChoice& choice, const Progress& progress) {
  const std::vector<TextChunk> all = text_chunks(model, text);
  const std::int64_t of_chunks = std::ssize(all);
  const std::vector<std::int64_t> chunks = chosen_items(of_chunks, choice);
  const std::int64_t count = std::ssize(chunks);
  std::vector<TextEvaluation> parts(static_cast<std::size_t>(count));
  std::atomic<std::int64_t> done{0};
  tbb::parallel_for(std::int64_t{0}, count, [&](std::int64_t i) {
    progress.step(static_cast<double>(done) / static_cast<double>(count), "chunks read");
    const auto at = static_cast<std::size_t>(i);
    parts[at] = judge_text(model, mechanism, all[static_cast<std::size_t>(chunks[at])]);
    ++done;
  });
  progress.step(1, "chunks read");
  TextEvaluation result;
  result.chunks = count;
  result.of_chunks = of_chunks;
  for (const TextEvaluation& part : parts) {
    result.characters += part.characters;
    result.predicted += part.predicted;
    result.nats += part.nats;
    result.correct += part.correct;
    result.not_finite += part.not_finite;
  }
  return result;
}

}  // namespace attnscope
