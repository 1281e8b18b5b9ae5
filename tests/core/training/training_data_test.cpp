// Data of a training step: images cropped according to the recipe, and texts with classes.
#include "core/training/data/training_data.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/model/preprocessing/preprocessing.h"
#include "tests/support/reference_maps.h"
#include "tests/support/small_data_set.h"

namespace attnscope {
namespace {

/// The number in big-endian order, as in IDX files.
std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

/// Writes one image of 8×8 pixels with the plane 10 · column + 20 · row.
std::filesystem::path write_plane(const TemporaryFolder& folder) {
  std::string images = big_endian(0x803) + big_endian(1) + big_endian(8) + big_endian(8);
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) images += static_cast<char>(10 * column + 20 * row);
  }
  (void)folder.write("plane-labels-idx1-ubyte", big_endian(0x801) + big_endian(1) + '\0');
  return folder.write("plane-images-idx3-ubyte", images);
}

TEST(TrainingImagesTest, ACropOfAPlaneIsAPlaneOfLessSlope) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.dataset = write_plane(folder).string();
  settings.batch = 1;
  const auto example = [&](double crop, std::int64_t step) {
    settings.crop = crop;
    const auto data = open_training_data(settings);
    ModelSpec spec;
    spec.input.patch_height = spec.input.patch_width = 4;
    return data->examples(data->complete(spec), step, 0, 1).images.front();
  };
  const Tensor whole = example(1, 0);
  const ConstMatrixMap plane = whole.slice(0);
  const float slope = plane(4, 5) - plane(4, 4);
  std::set<float> slopes;
  for (std::int64_t step = 0; step < 20; ++step) {
    const Tensor image = example(0.25, step);
    const ConstMatrixMap part = image.slice(0);
    const float right = part(4, 5) - part(4, 4), down = part(5, 4) - part(4, 4);
    // A quarter of the area has half the side.
    EXPECT_GE(right, 0.5F * slope * 0.999F);
    EXPECT_LE(right, slope * 1.001F);
    EXPECT_NEAR(down, 2 * right, 1e-4);
    EXPECT_NEAR(part(3, 5) - part(3, 4), right, 1e-4);
    EXPECT_GE(part(0, 0), plane(0, 0) - 1e-4);
    EXPECT_LE(part(7, 7), plane(7, 7) + 1e-4);
    slopes.insert(right);
    const Tensor again = example(0.25, step);
    EXPECT_EQ(image.slice(0), again.slice(0));
  }
  EXPECT_GT(slopes.size(), 15U);
}

TEST(TrainingImagesTest, RepeatedImagesFollowEachOtherAndVary) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.dataset = write_small_data_set(folder).string();
  settings.batch = 60;
  ModelSpec spec;
  spec.input.patch_height = spec.input.patch_width = 2;
  const auto epoch = [&](std::int64_t step) {
    const auto data = open_training_data(settings);
    return data->examples(data->complete(spec), step, 0, 60);
  };
  const Examples plain = epoch(1);
  settings.repeats = 3;
  const Examples repeated = epoch(1);
  for (std::size_t i = 0; i < 60; ++i) {
    EXPECT_EQ(repeated.images[i].slice(0), plain.images[i / 3].slice(0)) << i;
    EXPECT_EQ(repeated.targets[i], plain.targets[i / 3]) << i;
  }
  EXPECT_NE(epoch(2).images[0].slice(0), repeated.images[0].slice(0)) << "an order of its own";
  settings.erasing.probability = 1;
  const Examples varied = epoch(1);
  std::int64_t different = 0;
  for (std::size_t i = 0; i < 60; i += 3) {
    different += varied.images[i].slice(0) != varied.images[i + 1].slice(0) ? 1 : 0;
  }
  EXPECT_GT(different, 15) << "each is erased on its own";
  EXPECT_EQ(epoch(1).images[7].slice(0), varied.images[7].slice(0)) << "the same every time";
}

TEST(TrainingImagesBesidePyTorch, BatchesHaveTheImagesOfItsSampler) {
  const TemporaryFolder folder;
  DataSettings settings;
  settings.dataset = write_small_data_set(folder).string();
  for (const nlohmann::json& one : read_test_data("training/recipe.json").at("repetition")) {
    settings.repeats = one.at("repeats");
    settings.batch = one.at("batch");
    settings.seed = one.at("seed");
    const auto data = open_training_data(settings);
    ModelSpec spec;
    spec.input.patch_height = spec.input.patch_width = 2;
    spec = data->complete(spec);
    std::int64_t step = 0;
    for (const std::vector<std::int64_t> batch : one.at("batches")) {
      const Examples examples = data->examples(spec, step, 0, settings.batch);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const Tensor expected = prepare_input(data->training_input(batch[i]), spec).values;
        EXPECT_EQ(examples.images[i].slice(0), expected.slice(0)) << step << " " << i;
      }
      ++step;
    }
    EXPECT_EQ(step, 9) << "three epochs";
  }
}

class TrainingTextsTest : public testing::Test {
 protected:
  /// The error about these settings; empty if there is none.
  [[nodiscard]] std::string refusal() const {
    try {
      (void)open_training_data(settings_);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }
  static std::string text_of(const Examples& examples, std::size_t which) {
    std::string text;
    for (const std::int64_t id : examples.texts.at(which)) text += static_cast<char>(id);
    return text;
  }

  TemporaryFolder folder_;
  DataSettings settings_;
};

TEST_F(TrainingTextsTest, TablesGiveEveryTextOnceAnEpochAndEveryTenthForTests) {
  settings_.dataset = write_small_texts(folder_).string();
  settings_.batch = 54;
  const auto data = open_training_data(settings_);
  EXPECT_EQ(data->kind(), ExampleKind::texts);
  EXPECT_EQ(data->size(), 54);
  EXPECT_EQ(data->test_size(), 6);
  const ModelSpec spec = data->complete({});
  EXPECT_EQ(spec.labels, (std::vector<std::string>{"with x", "with z"}));
  EXPECT_EQ(spec.input.vocabulary, 256);
  const Examples epoch = data->examples(spec, 0, 0, 54), next = data->examples(spec, 1, 0, 54);
  std::multiset<std::string> once, again;
  for (std::size_t i = 0; i < 54; ++i) {
    once.insert(text_of(epoch, i));
    again.insert(text_of(next, i));
    const char letter = epoch.targets[i] == 0 ? 'x' : 'z';
    EXPECT_NE(text_of(epoch, i).find(letter), std::string::npos);
  }
  EXPECT_EQ(once, again);
  EXPECT_NE(epoch.texts, next.texts) << "another order";
  const Examples tests = data->test_examples(spec, 0, 6);
  EXPECT_EQ(std::get<Text>(data->test_input(2).content).characters, text_of(tests, 2));
}

TEST_F(TrainingTextsTest, FoldersOfClassesAreReadAndLongTextsCutBetweenCharacters) {
  std::filesystem::create_directories(folder_ / "good");
  std::filesystem::create_directories(folder_ / "bad");
  (void)folder_.write("good/1.txt", "ab\xC3\xBC and more");
  (void)folder_.write("bad/1.txt", "c");
  settings_.dataset = settings_.test_dataset = folder_.path().string();
  settings_.context = 3;
  const auto data = open_training_data(settings_);
  EXPECT_EQ(data->complete({}).labels, (std::vector<std::string>{"bad", "good"}));
  const Examples tests = data->test_examples({}, 0, 2);
  EXPECT_EQ(text_of(tests, 0), "c");
  EXPECT_EQ(text_of(tests, 1), "ab") << "\u00fc has two bytes, of which one would be left";
  EXPECT_EQ(tests.targets, (std::vector<std::int64_t>{0, 1}));
}

TEST_F(TrainingTextsTest, ClassesOfTestsAreThoseOfTheSameName) {
  settings_.dataset =
      folder_.write("a.csv", "text,label\n\"one, \"\"two\"\"\",10\nthree,9\n").string();
  settings_.test_dataset = folder_.write("b.tsv", "text\tlabel\nfour\t10\n").string();
  const auto data = open_training_data(settings_);
  EXPECT_EQ(data->complete({}).labels, (std::vector<std::string>{"9", "10"})) << "as numbers";
  EXPECT_EQ(data->test_examples({}, 0, 1).targets, std::vector<std::int64_t>{1});
  const Examples both = data->examples({}, 0, 0, 2);
  EXPECT_EQ(text_of(both, both.targets[0] == 1 ? 0 : 1), "one, \"two\"");
  settings_.test_dataset = folder_.write("c.tsv", "text\tlabel\nfour\t11\n").string();
  EXPECT_NE(refusal().find("11"), std::string::npos);
}

TEST_F(TrainingTextsTest, BadTablesAreRefusedByTheirLine) {
  const auto refused = [&](const char* name, const std::string& table) {
    settings_.dataset = folder_.write(name, table).string();
    return refusal();
  };
  EXPECT_NE(refused("a.tsv", "texts\tlabel\n").find("'text'"), std::string::npos);
  EXPECT_NE(refused("a.tsv", "text\tlabel\nx\ty\nz\n").find("line 3"), std::string::npos);
  EXPECT_NE(refused("a.tsv", "text\tlabel\n\ty\n").find("line 2"), std::string::npos);
  EXPECT_NE(refused("a.csv", "text,label\na,\n").find("label is empty"), std::string::npos);
  EXPECT_NE(refused("a.csv", "text,label\n\"a\n\nb,c\n").find("line 2"), std::string::npos);
  EXPECT_NE(refused("a.csv", "text,label\n\xFF,c\n").find("UTF-8"), std::string::npos);
  EXPECT_NE(refused("a.csv", "text,label\n").find("empty"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
