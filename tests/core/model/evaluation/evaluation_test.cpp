#include "core/model/evaluation/evaluation.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/model/transformer/transformer.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

/// Hashed arrays with the given labels.
class Items final : public DataSet {
 public:
  explicit Items(std::vector<int> labels) : labels_(std::move(labels)) {}
  [[nodiscard]] std::int64_t size() const override {
    return static_cast<std::int64_t>(labels_.size());
  }
  [[nodiscard]] Input item(std::int64_t index) const override {
    Input input;
    input.content = hashed_input("image " + std::to_string(index), {3, 32, 32});
    input.label = "items[" + std::to_string(index) + "]";
    input.class_index = labels_[static_cast<std::size_t>(index)];
    return input;
  }
  [[nodiscard]] const std::vector<std::string>& class_names() const override { return names_; }

 private:
  std::vector<int> labels_;
  std::vector<std::string> names_;
};

std::unique_ptr<Transformer> small_model(const NamedShapes& shapes) {
  const Checkpoint checkpoint = hashed_checkpoint(shapes);
  Architecture architecture = recognise_architecture(checkpoint);
  TransformerWeights weights = read_transformer_weights(checkpoint, architecture);
  return std::make_unique<Transformer>("weights", "model", std::move(architecture),
                                       std::move(weights));
}

int predicted(const Model& model, const Input& input) {
  const Trace trace = model.run(input, {}, {}, {});
  return static_cast<int>(
      std::max_element(trace.logits.values().begin(), trace.logits.values().end()) -
      trace.logits.values().begin());
}

TEST(Evaluation, CountsCorrectPredictions) {
  const auto model = small_model(timm_shapes({}));
  std::vector<int> labels;
  const Items unlabelled(std::vector<int>(20, 0));
  for (int i = 0; i < 20; ++i) labels.push_back(predicted(*model, unlabelled.item(i)));
  Evaluation result = evaluate(*model, {}, Items(labels), {}, {});
  EXPECT_EQ(result.images, 20);
  EXPECT_EQ(result.correct, 20);
  EXPECT_EQ(result.accuracy(), 1.0);
  for (int i = 0; i < 5; ++i)
    labels[static_cast<std::size_t>(i)] = (labels[static_cast<std::size_t>(i)] + 1) % 10;
  result = evaluate(*model, {}, Items(labels), {}, {});
  EXPECT_EQ(result.correct, 15);
  EXPECT_GE(result.correct_in_five, 15);
  result = evaluate(*model, {}, Items(labels), {8}, {});
  EXPECT_EQ(result.images, 8);
  // The eight items are spread over all twenty. The first five items are wrong.
  std::int64_t correct = 0;
  for (const std::int64_t item : chosen_items(20, {8})) correct += item >= 5;
  EXPECT_GT(correct, 3);
  EXPECT_EQ(result.correct, correct);
  std::int64_t images = 0;
  for (const std::int64_t count : result.class_images) images += count;
  EXPECT_EQ(images, 8);
}

TEST(Evaluation, RefusesModelsThatCannotBeEvaluated) {
  const auto model = small_model(timm_shapes({}));
  EXPECT_THROW((void)evaluate(*model, {}, Items({-1}), {}, {}), Error);
  EXPECT_THROW((void)evaluate(*model, {}, Items({10}), {}, {}), Error);
  EXPECT_THROW((void)evaluate(*model, {}, Items({}), {}, {}), Error);
  const auto encoder = small_model(torch_encoder_shapes(64, 128, 1));
  EXPECT_THROW((void)evaluate(*encoder, {}, Items({1}), {}, {}), Error);
}

TEST(Evaluation, CanBeCancelled) {
  const auto model = small_model(timm_shapes({}));
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW((void)evaluate(*model, {}, Items(std::vector<int>(4, 0)), {},
                              Progress({}, source.get_token())),
               Cancelled);
}

}  // namespace
}  // namespace attnscope
