// One text, character by character, in chunks from random positions. Without test data, its last
// tenth is for tests.
#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/input/text.h"
#include "core/training/data/training_data.h"
#include "core/training/learned_parameters/random_numbers.h"

namespace attnscope {

namespace {

std::vector<std::string> characters_of(const std::string& text, const char* key) {
  if (first_invalid_utf8(text) != std::string::npos) {
    throw Error(ErrorKind::usage, "the text is not UTF-8").about(key);
  }
  std::vector<std::string> characters;
  const std::vector<std::size_t> starts = character_starts(text);
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    characters.push_back(text.substr(starts[i], starts[i + 1] - starts[i]));
  }
  return characters;
}

class TrainingText final : public TrainingData {
 public:
  TrainingText(const DataSettings& settings, const std::vector<std::string>& training,
               const std::vector<std::string>& test)
      : settings_(settings) {
    std::set<std::string> all(training.begin(), training.end());
    all.insert(test.begin(), test.end());
    vocabulary_.assign(all.begin(), all.end());
    training_ = numbered(training);
    test_ = numbered(test);
    if (std::ssize(training_) <= settings.context) {
      throw Error(ErrorKind::usage, "the text is too short for the context")
          .about("context")
          .expected("below the text's " + std::to_string(training_.size()) + " characters")
          .found(std::to_string(settings.context));
    }
  }

  [[nodiscard]] ExampleKind kind() const override { return ExampleKind::chunks; }
  [[nodiscard]] std::int64_t size() const override { return std::ssize(training_); }

  [[nodiscard]] ModelSpec complete(ModelSpec spec) const override {
    spec.input.vocabulary = std::ssize(vocabulary_);
    spec.input.tokenizer = Tokenizer::characters;
    spec.labels = vocabulary_;
    return spec;
  }

  [[nodiscard]] Examples examples(const ModelSpec&, std::int64_t step, std::int64_t first,
                                  std::int64_t count) const override {
    Examples made;
    const RandomNumbers numbers = RandomNumbers(settings_.seed).of("order");
    for (std::int64_t i = first; i < first + count; ++i) {
      const auto place = static_cast<std::uint64_t>(step * settings_.batch + i);
      add(training_, numbers.below(std::ssize(training_) - settings_.context, place), made);
    }
    return made;
  }

  [[nodiscard]] Input training_input(std::int64_t index) const override {
    return chunk(training_, std::min(index, std::ssize(training_) - settings_.context), index);
  }

  [[nodiscard]] std::int64_t test_size() const override {
    const std::int64_t whole = std::max<std::int64_t>(std::ssize(test_) - 1, 0) / settings_.context;
    return settings_.test_items > 0 ? std::min(whole, settings_.test_items) : whole;
  }

  [[nodiscard]] Examples test_examples(const ModelSpec&, std::int64_t first,
                                       std::int64_t count) const override {
    Examples made;
    for (std::int64_t i = first; i < first + count; ++i) add(test_, i * settings_.context, made);
    return made;
  }

  [[nodiscard]] Input test_input(std::int64_t index) const override {
    return chunk(test_, index * settings_.context, index);
  }

 private:
  [[nodiscard]] Input chunk(const std::vector<std::int64_t>& ids, std::int64_t start,
                            std::int64_t number) const {
    Input input;
    Text text;
    for (std::int64_t i = start; i < start + settings_.context; ++i) {
      text.characters += vocabulary_[static_cast<std::size_t>(ids[static_cast<std::size_t>(i)])];
    }
    input.content = std::move(text);
    input.label = "chunk " + std::to_string(number);
    return input;
  }

  [[nodiscard]] std::vector<std::int64_t> numbered(const std::vector<std::string>& text) const {
    std::vector<std::int64_t> ids;
    for (const std::string& character : text) {
      const auto found = std::lower_bound(vocabulary_.begin(), vocabulary_.end(), character);
      ids.push_back(found - vocabulary_.begin());
    }
    return ids;
  }

  void add(const std::vector<std::int64_t>& text, std::int64_t start, Examples& examples) const {
    const auto from = text.begin() + start;
    examples.texts.emplace_back(from, from + settings_.context);
    examples.targets.insert(examples.targets.end(), from + 1, from + settings_.context + 1);
  }

  DataSettings settings_;
  std::vector<std::string> vocabulary_;
  std::vector<std::int64_t> training_, test_;
};

}  // namespace

std::shared_ptr<const TrainingData> open_training_text(const DataSettings& settings) {
  std::vector<std::string> training =
                               characters_of(read_text(settings.dataset).characters, "dataset"),
                           test;
  if (settings.test_dataset.empty()) {
    const auto first = training.begin() + std::ssize(training) * 9 / 10;
    test.assign(first, training.end());
    training.erase(first, training.end());
  } else {
    test = characters_of(read_text(settings.test_dataset).characters, "test_dataset");
  }
  return std::make_shared<TrainingText>(settings, training, test);
}

}  // namespace attnscope
