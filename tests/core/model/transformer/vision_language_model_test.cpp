#include "core/model/transformer/vision_language_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/model/transformer/generation.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kFolder = source_folder() + "/sample_data/models/garment-questions";
const std::string kPicture = kFolder + "/question.png";

Input asking(const std::string& text) { return open_input(question_locator(kPicture, text)); }

const Model& garment_model() {
  static const std::shared_ptr<const Model> model = load_model(kFolder);
  return *model;
}

Trace answer_to(const Model& model, const Input& input) {
  return model.run(input, model.spec().mechanism, {}, {});
}

TEST(VisionLanguageModel, PutsThePatchesIntoTheText) {
  const Trace trace = answer_to(garment_model(), asking("what is at the top left ?"));
  const TokenLayout& layout = trace.layout;
  EXPECT_EQ(layout.pictures, (std::vector<TokenCells>{{2, 8, 8}}));
  EXPECT_EQ(trace.tokens(), 2 + 64 + 8);
  EXPECT_EQ(std::ssize(layout.texts), trace.tokens());
  EXPECT_EQ(layout.name(2), "(0, 0)");
  EXPECT_EQ(layout.name(65), "(7, 7)");
  EXPECT_EQ(layout.name(66), "␣what");
  EXPECT_TRUE(trace.causal);
  ASSERT_TRUE(trace.image());
  EXPECT_EQ(trace.image()->width, 56);
}

TEST(VisionLanguageModel, TakesAWholeTextAsItIs) {
  const Trace own =
      answer_to(garment_model(), asking("USER: <image> what is at the top left ? ASSISTANT:"));
  const Trace around = answer_to(garment_model(), asking("what is at the top left ?"));
  EXPECT_TRUE(std::ranges::equal(own.logits.values(), around.logits.values()));
}

TEST(VisionLanguageModel, ReadsTextsWithoutAPicture) {
  Input input;
  input.content = Text{"USER: where is the bag ? ASSISTANT:", {}};
  const Trace trace = answer_to(garment_model(), input);
  EXPECT_TRUE(trace.layout.pictures.empty());
  EXPECT_EQ(trace.tokens(), 8);
}

TEST(VisionLanguageModel, RefusesWhatItCannotRead) {
  const auto refusal = [](const Model& model, const Input& input) {
    return std::string(refusal_of([&] { (void)answer_to(model, input); }).what());
  };
  EXPECT_THAT(refusal(garment_model(), asking("<image> <image> what ?")),
              AllOf(HasSubstr("1 <image> for 1 picture"), HasSubstr("found 2")));
  EXPECT_THAT(refusal(garment_model(), open_input(kPicture)), HasSubstr("--prompt"));
  std::string words = "what";
  for (int i = 0; i < 70; ++i) words += " is";
  EXPECT_THAT(refusal(garment_model(), asking(words)),
              AllOf(HasSubstr("at most 128 tokens"), HasSubstr("64 of them")));
  const auto without = load_model(source_folder() + "/sample_data/models/shakespeare-softmax.h5");
  EXPECT_THAT(refusal(*without, asking("To be")), HasSubstr("without a picture"));
}

TEST(VisionLanguageModel, PutsEachOfSeveralPicturesInItsPlace) {
  const auto model = load_model(kFolder, {{{"context", "256"}}, {}});
  const std::string other = source_folder() + "/sample_data/inputs/08_bag.png";
  const auto about_both = [&](const std::string& text) {
    return open_input(question_locator(kPicture + "+" + other, text));
  };
  const Trace before = answer_to(*model, about_both("where is the bag ?"));
  EXPECT_EQ(before.layout.pictures, (std::vector<TokenCells>{{2, 8, 8}, {66, 8, 8}}));
  EXPECT_EQ(before.tokens(), 2 + 2 * 64 + 6);
  EXPECT_EQ(before.layout.name(66), "picture 2 (0, 0)");
  ASSERT_EQ(before.images.size(), 2U);
  EXPECT_NE(before.images[0].pixels, before.images[1].pixels);
  // The same text written whole.
  const Trace whole =
      answer_to(*model, about_both("USER: <image> <image> where is the bag ? ASSISTANT:"));
  EXPECT_TRUE(std::ranges::equal(before.logits.values(), whole.logits.values()));
  const Trace between =
      answer_to(*model, about_both("USER: <image> where is the bag <image> ? ASSISTANT:"));
  EXPECT_EQ(between.layout.pictures, (std::vector<TokenCells>{{2, 8, 8}, {70, 8, 8}}));
  // The first picture sees nothing of the second.
  for (std::int64_t token = 0; token < 66; ++token) {
    for (std::int64_t key = 0; key <= token; ++key) {
      ASSERT_EQ(before.layers[0].implied_map.at(0, token, key),
                between.layers[0].implied_map.at(0, token, key));
    }
  }
  const auto refused = [&](const char* text) {
    return std::string(refusal_of([&] { (void)answer_to(*model, about_both(text)); }).what());
  };
  EXPECT_THAT(refused("USER: <image> what ?"),
              AllOf(HasSubstr("2 <image> for 2 pictures"), HasSubstr("found 1")));
  EXPECT_THAT(refused("<image> <image> <image>"), HasSubstr("found 3"));
  // A longer text opens again with both.
  const Input input = about_both("where is the bag ?");
  const GeneratedText text =
      generate(*model, input, model->spec().mechanism, {.tokens = 3, .sampling = {}});
  const std::string longer = continued_locator(*model, input, text.new_ids());
  EXPECT_THAT(longer, StartsWith("ask:" + kPicture + "+" + other + " ||| USER: <image>"));
  EXPECT_EQ(answer_to(*model, open_input(longer)).tokens(), std::ssize(text.ids()));
  const auto tower = load_model(kFolder, {{{"input.kind", "patches"}}, {}});
  EXPECT_THAT(std::string(refusal_of([&] { (void)answer_to(*tower, input); }).what()),
              HasSubstr("one picture at a time"));
}

TEST(VisionLanguageModel, ItsPartsOpenAlone) {
  const auto tower = load_model(kFolder, {{{"input.kind", "patches"}}, {}});
  EXPECT_THAT(tower->name(), testing::EndsWith("(image tower)"));
  // One input serves the tower and the whole model.
  const Trace seen = answer_to(*tower, asking("what is at the top left ?"));
  EXPECT_EQ(seen.tokens(), 65);
  const Trace alone = answer_to(*tower, open_input(kPicture));
  EXPECT_EQ(seen.layers[0].implied_map.slice(0), alone.layers[0].implied_map.slice(0));
  const auto language = load_model(kFolder, {{{"input.kind", "tokens"}}, {}});
  EXPECT_TRUE(language->spec().is_language_model());
  EXPECT_FALSE(language->reads_pictures());
}

TEST(VisionLanguageModel, OptionsOfTheTowerHaveAPrefix) {
  const auto model = load_model(kFolder, {{{"tower.resize_mode", "padded"}}, {}});
  const auto* const both = dynamic_cast<const VisionLanguageModel*>(model.get());
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->tower().spec().input.resize_mode, ResizeMode::padded);
  const std::string text(refusal_of([] {
                           (void)load_model(kFolder, {{{"tower.hats", "2"}}, {}});
                         }).what());
  EXPECT_THAT(text, HasSubstr("hats"));
}

struct Question {
  const char *text, *answer;
};

class AnswerOfTheSample : public testing::TestWithParam<Question> {};

TEST_P(AnswerOfTheSample, IsRight) {
  const Input input = asking(GetParam().text);
  const MechanismChoice& trained = garment_model().spec().mechanism;
  const GeneratedText text =
      generate(garment_model(), input, trained, {.tokens = 6, .sampling = {}});
  EXPECT_EQ(text.text(), GetParam().answer);
  EXPECT_EQ(text.end, GenerationEnd::token);
  EXPECT_TRUE(text.kept_keys);
  // The longer text opens again, with the same picture, and gives the same tokens.
  const std::string longer = continued_locator(garment_model(), input, text.new_ids());
  EXPECT_THAT(longer, StartsWith("ask:" + kPicture + " ||| USER: <image>"));
  EXPECT_THAT(longer, testing::EndsWith(std::string("ASSISTANT:") + GetParam().answer));
  const Trace trace = answer_to(garment_model(), open_input(longer));
  EXPECT_EQ(trace.tokens(), std::ssize(text.ids()));
}

INSTANTIATE_TEST_SUITE_P(Questions, AnswerOfTheSample,
                         testing::Values(Question{"where is the bag ?", " at the bottom right"},
                                         Question{"what is at the bottom left ?", " nothing"},
                                         Question{"what is at the top left ?", " a T-shirt"}));

}  // namespace
}  // namespace attnscope
