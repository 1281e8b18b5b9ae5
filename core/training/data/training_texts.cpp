// Texts with a class each, byte by byte, in a new order every epoch.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/input/text.h"
#include "core/training/data/random_order.h"
#include "core/training/data/training_data.h"

namespace attnscope {

namespace {

// Without a test data set, every kEvery-th text is used for testing instead of training.
constexpr std::int64_t kEvery = 10;

const std::string& characters_of_item(const Input& input) {
  if (const auto* const text = std::get_if<Text>(&input.content)) return text->characters;
  throw Error(ErrorKind::unsupported, "an item of the data set is not a text").about(input.label);
}

class TrainingTexts final : public TrainingData {
 public:
  TrainingTexts(const DataSettings& settings, std::shared_ptr<const DataSet> texts,
                std::shared_ptr<const DataSet> test)
      : settings_(settings), texts_(std::move(texts)), test_(std::move(test)) {
    for (std::int64_t i = 0; i < texts_->size(); ++i) {
      const bool tests = !test_ && i % kEvery == kEvery - 1;
      (tests ? test_items_ : items_).push_back(i);
    }
    for (std::int64_t i = 0; test_ && i < test_->size(); ++i) test_items_.push_back(i);
    limit(items_, settings.items);
    limit(test_items_, settings.test_items);
    if (items_.empty()) throw Error(ErrorKind::usage, "the data set is empty").about("dataset");
    for (const std::string& name : (test_ ? test_ : texts_)->class_names()) {
      const auto found = std::ranges::find(texts_->class_names(), name);
      if (found == texts_->class_names().end()) {
        throw Error(ErrorKind::usage, "the test data set has a class that the training data lacks")
            .about("test_dataset")
            .found(name);
      }
      test_classes_.push_back(found - texts_->class_names().begin());
    }
    if (!settings.labels.empty() && settings.labels.size() != texts_->class_names().size()) {
      throw Error(ErrorKind::usage, "the number of labels differs from the number of classes")
          .about("labels")
          .expected(std::to_string(texts_->class_names().size()))
          .found(std::to_string(settings.labels.size()));
    }
  }

  [[nodiscard]] ExampleKind kind() const override { return ExampleKind::texts; }
  [[nodiscard]] std::int64_t size() const override { return std::ssize(items_); }
  [[nodiscard]] std::int64_t test_size() const override { return std::ssize(test_items_); }

  [[nodiscard]] ModelSpec complete(ModelSpec spec) const override {
    spec.input.vocabulary = 256;
    spec.input.tokenizer = Tokenizer::bytes;
    spec.labels = settings_.labels.empty() ? texts_->class_names() : settings_.labels;
    return spec;
  }

  [[nodiscard]] Examples examples(const ModelSpec&, std::int64_t step, std::int64_t first,
                                  std::int64_t count) const override {
    Examples made;
    const RandomNumbers numbers = RandomNumbers(settings_.seed).of("order");
    for (std::int64_t i = first; i < first + count; ++i) {
      const std::int64_t place = step * settings_.batch + i, epoch = place / size();
      const RandomOrder order(numbers.of(static_cast<std::uint64_t>(epoch)), size());
      const Input input = texts_->item(items_[static_cast<std::size_t>(order.at(place % size()))]);
      add(input, input.class_index, made);
    }
    return made;
  }

  [[nodiscard]] Input training_input(std::int64_t index) const override {
    return as_run(texts_->item(items_[static_cast<std::size_t>(index)]));
  }

  [[nodiscard]] Examples test_examples(const ModelSpec&, std::int64_t first,
                                       std::int64_t count) const override {
    Examples made;
    for (std::int64_t i = first; i < first + count; ++i) {
      const Input input = test_item(i);
      add(input, test_classes_.at(static_cast<std::size_t>(input.class_index)), made);
    }
    return made;
  }

  [[nodiscard]] Input test_input(std::int64_t index) const override {
    return as_run(test_item(index));
  }

 private:
  /// The input truncated to the part that a model reads.
  [[nodiscard]] Input as_run(Input input) const {
    const std::string whole = characters_of_item(input);
    input.content = Text{beginning_of(whole), {}};
    return input;
  }

  static void limit(std::vector<std::int64_t>& items, std::int64_t most) {
    if (most > 0 && std::ssize(items) > most) items.resize(static_cast<std::size_t>(most));
  }

  [[nodiscard]] Input test_item(std::int64_t index) const {
    return (test_ ? test_ : texts_)->item(test_items_[static_cast<std::size_t>(index)]);
  }

  /// The beginning of the text in whole characters, or in bytes if the first character is too long.
  [[nodiscard]] std::string beginning_of(const std::string& text) const {
    const auto most = static_cast<std::size_t>(settings_.context);
    if (text.size() <= most) return text;
    const std::vector<std::size_t> starts = character_starts(text.substr(0, most + 4));
    const std::size_t end = *std::prev(std::ranges::upper_bound(starts, most));
    return text.substr(0, end > 0 ? end : most);
  }

  void add(const Input& input, std::int64_t target, Examples& examples) const {
    std::vector<std::int64_t> ids;
    for (const char byte : beginning_of(characters_of_item(input))) {
      ids.push_back(static_cast<unsigned char>(byte));
    }
    examples.texts.push_back(std::move(ids));
    examples.targets.push_back(target);
  }

  DataSettings settings_;
  std::shared_ptr<const DataSet> texts_, test_;  ///< test_ is null if texts_ is split
  std::vector<std::int64_t> items_, test_items_, test_classes_;
};

}  // namespace

std::shared_ptr<const TrainingData> make_training_texts(const DataSettings& settings,
                                                        std::shared_ptr<const DataSet> texts,
                                                        std::shared_ptr<const DataSet> test) {
  return std::make_shared<TrainingTexts>(settings, std::move(texts), std::move(test));
}

}  // namespace attnscope
