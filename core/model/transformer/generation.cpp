#include "core/model/transformer/generation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "core/model/transformer/vision_language_model.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

void check(const GenerationSettings& settings) {
  const auto refuse = [](const char* option, const char* expected, const std::string& found) {
    throw Error(ErrorKind::usage, "the setting is out of range")
        .about(option)
        .expected(expected)
        .found(found);
  };
  const TokenSampling& sampling = settings.sampling;
  if (settings.tokens < 1) refuse("tokens", "at least 1", std::to_string(settings.tokens));
  if (!(sampling.temperature >= 0 && sampling.temperature <= 100)) {
    refuse("temperature", "0 to 100", rounded_text(sampling.temperature));
  }
  if (sampling.top_k < 0) refuse("top_k", "0 or more", std::to_string(sampling.top_k));
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    refuse("top_p", "more than 0, at most 1", rounded_text(sampling.top_p));
  }
  if (settings.alternatives < 0) {
    refuse("alternatives", "0 or more", std::to_string(settings.alternatives));
  }
}

/// The place of the greatest logit, the first of equal ones. Throws Error(usage) if a logit is NaN
/// or the greatest is not finite.
std::vector<double>::const_iterator greatest_logit(const std::vector<double>& logits) {
  const bool known = std::ranges::none_of(logits, [](double x) { return std::isnan(x); });
  const auto greatest = std::ranges::max_element(logits);
  if (!known || logits.empty() || !std::isfinite(*greatest)) {
    throw Error(ErrorKind::usage, "the model's logits are not finite")
        .remedy("run the text with `attnscope trace` to see in which layer they cease to be");
  }
  return greatest;
}

/// exp(x − greatest) / Σ, in double. Throws the errors of greatest_logit.
std::vector<double> softmax_of(const std::vector<double>& logits, double temperature) {
  const double greatest = *greatest_logit(logits);
  std::vector<double> weights;
  weights.reserve(logits.size());
  for (const double x : logits) weights.push_back(std::exp((x - greatest) / temperature));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Indices of the `count` greatest values, greatest first; of equal ones the first.
std::vector<std::int64_t> greatest_of(const std::vector<double>& values, std::int64_t count) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t kept = std::min(count, std::ssize(order));
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const double x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), before);
  order.resize(static_cast<std::size_t>(kept));
  return order;
}

double entropy_of(const std::vector<double>& probabilities) {
  double bits = 0;
  for (const double p : probabilities) bits -= p > 0 ? p * std::log2(p) : 0;
  return bits;
}

/// The logits of the token after a text that grows.
class NextLogits {
 public:
  /// `pictures` are those of the whole text and lie within the first tokens that are given to
  /// `after`; null: none.
  NextLogits(const Transformer& model, const MechanismChoice& mechanism, std::int64_t longest,
             const PictureTokens* pictures)
      : model_(model),
        mechanism_(mechanism),
        appends_(model.can_append(mechanism, longest)),
        pictures_(pictures) {}

  [[nodiscard]] bool appends() const { return appends_; }

  std::vector<double> after(const std::vector<std::int64_t>& more, const Progress& progress) {
    ids_.insert(ids_.end(), more.begin(), more.end());
    const Tensor logits =
        appends_ ? model_.append(more, mechanism_, cache_, progress.silent(), pictures_)
                 : of_whole_text(progress);
    return {logits.values().begin(), logits.values().end()};
  }

 private:
  Tensor of_whole_text(const Progress& progress) const {
    Input input;
    input.content = Text{{}, ids_};
    TraceRequest request;
    request.implied_maps = false;
    TokenizedText text = tokenize_input(input, model_.spec(), *model_.vocabulary());
    return model_
        .run_tokens(input, std::move(text), pictures_, mechanism_, request, progress.silent())
        .logits;
  }

  const Transformer& model_;
  const MechanismChoice& mechanism_;
  bool appends_;
  const PictureTokens* pictures_;
  std::vector<std::int64_t> ids_;
  std::vector<KeyValueCache> cache_;
};

const Transformer& language_model_of(const Model& model) {
  const Transformer* const found = find_transformer(model);
  const ModelSpec& spec = model.spec();
  if (found && spec.is_language_model() && !spec.has_decoder() && spec.layer.scores.causal &&
      !spec.input.pads_to_context && spec.tail.vocabulary == 0) {
    return *found;
  }
  throw Error(ErrorKind::usage, "the model does not predict the next token of a text")
      .in_file(model.file())
      .expected("a causal language model, such as GPT-2 or Llama");
}

/// The tokens of the text, without a special one that the tokenizer adds to its end.
TokenizedText prompt_of(const Input& input, const Model& model) {
  const Vocabulary& vocabulary = *transformer_of(model).vocabulary();
  const auto* const both = dynamic_cast<const VisionLanguageModel*>(&model);
  if (!both) refuse_pictures(input);
  TokenizedText prompt =
      both ? both->tokens_of(input) : tokenize_input(input, model.spec(), vocabulary);
  std::vector<std::int64_t>& ids = prompt.ids;
  const Text* const given = std::get_if<Text>(&input.content);
  const bool by_words = given && given->ids.empty();
  while (by_words && ids.size() > 1 && vocabulary.is_special(ids.back())) ids.pop_back();
  if (!ids.empty()) return prompt;
  throw Error(ErrorKind::usage, "there is no text to continue")
      .about(input.label)
      .expected("at least one token");
}

}  // namespace

std::span<const GeneratedToken> GeneratedText::with_text() const {
  const std::span<const GeneratedToken> all(tokens);
  return end == GenerationEnd::token ? all.first(all.size() - 1) : all;
}

std::string GeneratedText::text() const {
  std::string all;
  for (const GeneratedToken& token : with_text()) all += token.chosen.text;
  return all;
}

std::vector<std::int64_t> GeneratedText::new_ids() const {
  std::vector<std::int64_t> all;
  for (const GeneratedToken& token : with_text()) all.push_back(token.chosen.id);
  return all;
}

std::vector<std::int64_t> GeneratedText::ids() const {
  std::vector<std::int64_t> all = prompt;
  for (const std::int64_t id : new_ids()) all.push_back(id);
  return all;
}

std::int64_t next_token(const std::vector<double>& logits, const TokenSampling& sampling,
                        double at) {
  if (sampling.temperature == 0) return greatest_logit(logits) - logits.begin();
  const std::vector<double> all = softmax_of(logits, sampling.temperature);
  const std::int64_t most = sampling.top_k > 0 ? sampling.top_k : std::ssize(all);
  std::vector<std::int64_t> kept = greatest_of(all, most);
  const auto probability = [&](std::int64_t id) { return all[static_cast<std::size_t>(id)]; };
  double of_k = 0, sum = 0;
  for (const std::int64_t id : kept) of_k += probability(id);
  std::size_t count = 0;
  while (count < kept.size() && (count == 0 || sum < sampling.top_p * of_k)) {
    sum += probability(kept[count++]);
  }
  kept.resize(count);
  double left = at * sum;
  for (const std::int64_t id : kept) {
    left -= probability(id);
    if (left < 0) return id;
  }
  return kept.back();
}

std::string continued_locator(const Model& model, const Input& input,
                              const std::vector<std::int64_t>& more) {
  const Transformer& transformer = language_model_of(model);
  std::vector<std::int64_t> ids = prompt_of(input, model).ids;
  ids.insert(ids.end(), more.begin(), more.end());
  const std::int64_t context = model.spec().input.context;
  if (context > 0 && std::ssize(ids) > context) {
    throw Error(ErrorKind::usage, "the model's context is full")
        .about(input.label)
        .expected("at most " + std::to_string(context) + " tokens")
        .found(std::to_string(ids.size()));
  }
  const Text& text = std::get<Text>(input.content);
  if (text.ids.empty()) {
    Input longer = input;
    std::string& characters = std::get<Text>(longer.content).characters;
    if (const auto* const both = dynamic_cast<const VisionLanguageModel*>(&model);
        both && !text.pictures.empty()) {
      characters = both->prompt_for(characters, text.pictures.size());
    } else if (text.chat) {
      characters = transformer.vocabulary()->chat_text(characters, 0);
      std::get<Text>(longer.content).chat = false;
    }
    for (const std::int64_t id : more) characters += transformer.vocabulary()->text_of(id);
    const bool whole = first_invalid_utf8(characters) == std::string::npos;
    if (whole && prompt_of(longer, model).ids == ids) {
      const auto question = parts_of_question(input.locator);
      return question ? question_locator(question->first, characters) : "text:" + characters;
    }
  }
  std::string locator = "ids:";
  for (const std::int64_t id : ids) {
    locator += (locator.back() == ':' ? "" : ",") + std::to_string(id);
  }
  return locator;
}

GeneratedText generate(const Model& model, const Input& input, const MechanismChoice& mechanism,
                       const GenerationSettings& settings,
                       const std::function<void(const GeneratedToken&)>& made,
                       const Progress& progress) {
  check(settings);
  const Transformer& transformer = language_model_of(model);
  const Vocabulary& vocabulary = *transformer.vocabulary();
  GeneratedText result;
  const TokenizedText prompt = prompt_of(input, model);
  const auto* const both = dynamic_cast<const VisionLanguageModel*>(&model);
  const std::optional<PictureTokens> pictures =
      both ? both->look_at(input, prompt, progress) : std::nullopt;
  result.prompt = prompt.ids;
  const std::int64_t context = model.spec().input.context;
  const std::int64_t begin = std::ssize(result.prompt);
  std::int64_t longest = begin + settings.tokens - 1;  // the last token is never read
  if (context > 0) longest = std::min(longest, context);
  NextLogits next(transformer, mechanism, longest, pictures ? &*pictures : nullptr);
  result.kept_keys = next.appends();
  std::mt19937_64 random(settings.sampling.seed);
  std::vector<std::int64_t> more = result.prompt;
  for (std::int64_t i = 0; i < settings.tokens; ++i) {
    if (context > 0 && begin + i > context) {
      result.end = GenerationEnd::context;
      break;
    }
    progress.step(static_cast<double>(i) / static_cast<double>(settings.tokens),
                  "continuing the text");
    const std::vector<double> logits = next.after(more, progress);
    const std::vector<double> probabilities = softmax_of(logits, 1);
    const auto alternative = [&](std::int64_t id) {
      return TokenAlternative{id, vocabulary.text_of(id),
                              probabilities[static_cast<std::size_t>(id)]};
    };
    const double at = static_cast<double>(random() >> 11U) * 0x1p-53;
    GeneratedToken token;
    token.position = begin + i;
    token.chosen = alternative(next_token(logits, settings.sampling, at));
    token.entropy = entropy_of(probabilities);
    for (const std::int64_t id : greatest_of(probabilities, settings.alternatives)) {
      token.alternatives.push_back(alternative(id));
    }
    more = {token.chosen.id};
    if (made) made(token);
    result.tokens.push_back(std::move(token));
    if (vocabulary.is_special(more.front())) {
      result.end = GenerationEnd::token;
      break;
    }
  }
  progress.step(1, "continuing the text");
  return result;
}

}  // namespace attnscope
