// The parts of a recipe compared with PyTorch's and torchvision's: labels, omissions, mixed and
// erased images, RandAugment, the rate's schedule, the average of the weights and the conversion of
// a trained DeiT.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "core/error.h"
#include "core/training/attention/weight_dropout.h"
#include "core/training/attention/window_biases.h"
#include "core/training/augmentation/mixing.h"
#include "core/training/augmentation/random_augment.h"
#include "core/training/augmentation/random_erasing.h"
#include "core/training/network.h"
#include "core/training/optimiser.h"
#include "core/training/run/training_run.h"
#include "core/training/weight_average.h"
#include "tests/support/hashed_weights.h"
#include "tests/support/reference_maps.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/training_case.h"

namespace attnscope {
namespace {

using nlohmann::json;

const json& recipe_cases(const char* part) {
  return read_test_data("training/recipe.json").at(part);
}

/// The greatest |found − expected|.
double greatest_error(const std::vector<double>& expected, const float* found) {
  double greatest = 0;
  for (const double number : expected) greatest = std::max(greatest, std::abs(number - *found++));
  return greatest;
}

/// Expects the gradients of a case for every parameter, to 5e-5 of the greatest one.
void expect_gradients(const json& one, const TrainedNetwork& network,
                      const std::vector<float>& gradients) {
  for (const Parameter& parameter : network.parameters().list()) {
    const std::vector<double> expected = one.at("gradients").at(parameter.name);
    double size = 0;
    for (const double number : expected) size = std::max(size, std::abs(number));
    EXPECT_LT(greatest_error(expected, parameter.slot.in(gradients.data())), 5e-5 * size + 1e-7)
        << one.at("name") << " " << parameter.name;
  }
}

TEST(CrossEntropyBesidePyTorch, SmoothedAndMixedLabelsHaveItsLossAndGradient) {
  for (const json& one : recipe_cases("smoothing")) {
    const std::int64_t classes = one.at("classes");
    const Tensor numbers = raw_uniform({6, classes}, one.at("seed"));
    Matrix logits = 4 * numbers.matrix();
    const std::vector<std::int64_t> first = one.at("first"), second = one.at("second");
    const LossSum sum = cross_entropy(logits,
                                      {.first = first,
                                       .second = second,
                                       .share = one.at("share"),
                                       .smoothing = one.at("smoothing")},
                                      one.at("weight"));
    EXPECT_NEAR(sum.loss, one.at("loss").get<double>(), 1e-6);
    EXPECT_EQ(sum.count, 6);
    EXPECT_LT(greatest_error(one.at("gradient"), logits.data()), 1e-6);
  }
}

TEST(CrossEntropy, RefusesAClassOutOfRange) {
  Matrix logits = Matrix::Zero(1, 3);
  const std::int64_t good[] = {2}, bad[] = {3};
  EXPECT_THROW((void)cross_entropy(logits, {.first = bad}, 0), Error);
  EXPECT_THROW((void)cross_entropy(logits, {.first = good, .second = bad}, 0), Error);
}

TEST(RegularisedNetworkBesidePyTorch, HasItsLossAndGradientsForTheSameMasks) {
  for (const json& one : recipe_cases("networks")) {
    const std::string name = one.at("name");
    const TrainedNetwork network(training_spec(one), gradient_forms(one),
                                 {.dropout = one.at("dropout"),
                                  .attention_dropout = one.at("attention_dropout"),
                                  .drop_path = one.at("drop_path"),
                                  .label_smoothing = one.at("smoothing")});
    const auto values = training_values(one, network.parameters());
    Examples examples = training_examples(one, 4, 7);
    for (std::uint64_t i = 0; i < 4; ++i) examples.numbers.push_back(RandomNumbers(5).of(i));
    examples.share = one.at("share");
    if (examples.share < 1) {
      examples.mixed_targets = {examples.targets.rbegin(), examples.targets.rend()};
    }
    std::vector<float> gradients(values.size());
    TrainedNetwork::Room room;
    const auto targets = static_cast<float>(examples.targets.size());
    const LossSum sum =
        network.run(values.data(), gradients.data(), 1.0F / targets, examples, room);
    EXPECT_NEAR(sum.loss / static_cast<double>(sum.count), one.at("loss").get<double>(), 2e-6)
        << name;
    expect_gradients(one, network, gradients);
  }
}

TEST(WindowBiasesBesidePyTorch, HaveItsEntropyAndGumbelSamples) {
  for (const json& one : recipe_cases("biases")) {
    const std::string name = one.at("name").get<std::string>() + " " + one.at("weight").dump();
    const TrainedNetwork network(training_spec(one), gradient_forms(one),
                                 {.gumbel_noise = one.at("noise")});
    const auto values = training_values(one, network.parameters());
    Examples examples = training_examples(one, 4, 7);
    examples.batch_numbers = RandomNumbers(6);
    std::vector<float> gradients(values.size());
    TrainedNetwork::Room room;
    const LossSum sum = network.run(values.data(), gradients.data(), 0.25F, examples, room);
    EXPECT_NEAR(sum.loss / 4, one.at("loss").get<double>(), 2e-6) << name;
    const double entropy =
        add_bias_entropy(network.parameters(), values.data(), one.at("weight"), gradients.data());
    EXPECT_NEAR(entropy, one.at("entropy").get<double>(), 1e-6) << name;
    expect_gradients(one, network, gradients);
  }
}

TEST(WindowBiases, EntropyOfPlainBiasesHasTheGradientOfItsDifferences) {
  const json& one = recipe_cases("biases").at(0);
  ModelSpec spec = training_spec(one);
  spec.mechanism.parameters["reparameterised"] = false;
  const TrainedNetwork network(spec, gradient_forms(one));
  const ParameterTable& table = network.parameters();
  const Tensor numbers = raw_uniform({table.size()}, 8);
  std::vector<float> values(numbers.data(), numbers.data() + numbers.size());
  std::vector<float> gradients(values.size()), unused(values.size());
  const double entropy = add_bias_entropy(table, values.data(), 0.5, gradients.data());
  EXPECT_GT(entropy, 0);
  std::int64_t varied = 0;
  for (const Parameter& parameter : table.list()) {
    EXPECT_FALSE(parameter.name.ends_with("gamma")) << parameter.name;
    if (!parameter.name.ends_with(".r")) continue;
    for (std::int64_t i = 0; i < parameter.slot.size; i += 3) {
      constexpr float kStep = 1.0F / 1024;
      float& number = parameter.slot.in(values.data())[i];
      const float was = number;
      number = was + kStep;
      const double above = add_bias_entropy(table, values.data(), 0, unused.data());
      number = was - kStep;
      const double below = add_bias_entropy(table, values.data(), 0, unused.data());
      number = was;
      EXPECT_NEAR(parameter.slot.in(gradients.data())[i],
                  0.5 * (above - below) / (2 * static_cast<double>(kStep)), 1e-5);
      ++varied;
    }
  }
  EXPECT_GT(varied, 0);
}

TEST(RegularisedNetwork, OmitsAndSmoothsNothingInTests) {
  const json& one = recipe_cases("networks").at(2);
  const TrainedNetwork plain(training_spec(one), gradient_forms(one)),
      network(training_spec(one), gradient_forms(one),
              {.dropout = 0.5, .attention_dropout = 0.5, .drop_path = 0.5, .label_smoothing = 0.5});
  const auto values = training_values(one, plain.parameters());
  const Examples examples = training_examples(one, 4, 7);
  TrainedNetwork::Room room;
  EXPECT_EQ(network.run(values.data(), nullptr, 0, examples, room).loss,
            plain.run(values.data(), nullptr, 0, examples, room).loss);
}

TEST(Omission, LeavesOutTheShareAndKeepsTheMean) {
  const RandomNumbers numbers[] = {RandomNumbers(1), RandomNumbers(2)};
  const std::int64_t lengths[] = {300, 200};
  Matrix rows = Matrix::Ones(500, 40);
  omit({.examples = numbers, .dropout = 0.25}, 0, lengths, rows);
  const auto zeros = static_cast<double>((rows.array() == 0).count());
  EXPECT_NEAR(zeros / static_cast<double>(rows.size()), 0.25, 0.01);
  EXPECT_NEAR(rows.mean(), 1, 0.01);
  EXPECT_FLOAT_EQ(rows.maxCoeff(), 1 / 0.75F);
  Matrix others = Matrix::Ones(500, 40);
  omit({.examples = numbers, .dropout = 0.25}, 1, lengths, others);
  EXPECT_NE(rows, others) << "places have masks of their own";
}

TEST(WeightDropout, LeavesOutTheShareAndKeepsTheMeanWhateverTheBlocks) {
  const WeightDropout dropout{.numbers = RandomNumbers(4), .share = 0.25};
  Matrix all = Matrix::Ones(90, 100);
  const auto rows_from = [](Matrix& matrix, std::int64_t first, std::int64_t count,
                            std::int64_t keys) {
    return StridedMatrixMap(matrix.row(first).data(), count, keys, Eigen::OuterStride<>(100));
  };
  drop_weights(dropout, 1, 0, 100, rows_from(all, 0, 90, 100));
  const auto zeros = static_cast<double>((all.array() == 0).count());
  EXPECT_NEAR(zeros / static_cast<double>(all.size()), 0.25, 0.02);
  EXPECT_NEAR(all.mean(), 1, 0.02);
  Matrix parts = Matrix::Ones(90, 100);
  drop_weights(dropout, 1, 0, 100, rows_from(parts, 0, 32, 40));
  drop_weights(dropout, 1, 32, 100, rows_from(parts, 32, 58, 100));
  EXPECT_EQ(parts.topLeftCorner(32, 40), all.topLeftCorner(32, 40));
  EXPECT_EQ(parts.bottomRows(58), all.bottomRows(58));
  Matrix other = Matrix::Ones(90, 100);
  drop_weights(dropout, 2, 0, 100, rows_from(other, 0, 90, 100));
  EXPECT_NE(other, all) << "heads have masks of their own";
  other = all;
  drop_weights({.numbers = {}, .share = 0.5}, 0, 0, 100, rows_from(other, 0, 90, 100));
  EXPECT_EQ(other, all) << "tests have no numbers";
}

TEST(Omission, DropsWholeBranchesMoreOftenInLaterLayers) {
  EXPECT_EQ(drop_path_of_layer(0.2, 0, 5), 0);
  EXPECT_DOUBLE_EQ(drop_path_of_layer(0.2, 3, 5), 0.15);
  EXPECT_EQ(drop_path_of_layer(0.2, 4, 5), 0.2);
  EXPECT_EQ(drop_path_of_layer(0.2, 0, 1), 0);
  std::int64_t dropped = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const RandomNumbers numbers[] = {RandomNumbers(seed)};
    const std::int64_t lengths[] = {2};
    Matrix rows = Matrix::Ones(2, 3);
    omit({.examples = numbers, .drop_path = 0.3}, 0, lengths, rows);
    EXPECT_TRUE((rows.array() == 0).all() || (rows.array() == 1 / 0.7F).all());
    dropped += rows(0, 0) == 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(dropped) / 4000, 0.3, 0.03);
}

TEST(MixingBesidePyTorch, MixesBatchesAsTimm) {
  for (const json& one : recipe_cases("mixing")) {
    const std::int64_t height = one.at("height"), width = one.at("width"), size = height * width;
    const Tensor all = raw_uniform({4, 2, height, width}, 11);
    const Mix cut = cut_mix(one.at("share"), one.at("row"), one.at("column"), height, width);
    EXPECT_EQ((std::vector<std::int64_t>{cut.top, cut.bottom, cut.left, cut.right}),
              one.at("box").get<std::vector<std::int64_t>>());
    EXPECT_DOUBLE_EQ(cut.share, one.at("box_share").get<double>());
    const Mix blend = {.share = one.at("share")};
    for (const auto& [how, key] : {std::pair{cut, "cut"}, std::pair{blend, "blended"}}) {
      std::vector<float> found;
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto image_at = [&](std::int64_t index) {
          const float* const from = all.data() + index * 2 * size;
          return Tensor({2, height, width}, std::vector<float>(from, from + 2 * size));
        };
        Tensor image = image_at(i);
        mix(how, image_at(3 - i), image);
        for (std::int64_t channel = 0; channel < 2; ++channel) {
          for (std::int64_t row = 0; row < height; row += 3) {
            for (std::int64_t column = 0; column < width; column += 3) {
              found.push_back(image.slice(channel)(row, column));
            }
          }
        }
      }
      const std::vector<double> expected = one.at(key);
      ASSERT_EQ(found.size(), expected.size());
      EXPECT_LT(greatest_error(expected, found.data()), 1e-5);
    }
  }
}

TEST(MixingBesidePyTorch, SharesHaveItsBetaDistribution) {
  for (const json& one : recipe_cases("shares")) {
    constexpr int kDrawn = 40000;
    std::vector<double> shares;
    for (std::uint64_t i = 0; i < kDrawn; ++i) {
      shares.push_back(random_share(one.at("alpha"), RandomNumbers(9).of(i)));
    }
    for (std::size_t tenth = 1; tenth < 10; ++tenth) {
      const auto below = std::ranges::count_if(
          shares, [&](double share) { return share < static_cast<double>(tenth) / 10; });
      // Four deviations of both.
      EXPECT_NEAR(static_cast<double>(below) / kDrawn, one.at("below").at(tenth - 1), 0.011)
          << one.at("alpha") << " " << tenth;
    }
  }
}

TEST(Mixing, SharesFollowTheBetaDistribution) {
  for (const double alpha : {0.2, 1.0, 3.0}) {
    double sum = 0, squares = 0;
    constexpr int kDrawn = 20000;
    for (std::uint64_t i = 0; i < kDrawn; ++i) {
      const double share = random_share(alpha, RandomNumbers(9).of(i));
      ASSERT_TRUE(share >= 0 && share <= 1);
      sum += share;
      squares += share * share;
    }
    const double mean = sum / kDrawn;
    EXPECT_NEAR(mean, 0.5, 0.01);
    EXPECT_NEAR(squares / kDrawn - mean * mean, 1 / (4 * (2 * alpha + 1)), 0.004) << alpha;
  }
}

TEST(Mixing, HalfOfTheBatchesAreCutWhereBothAreOn) {
  int cuts = 0;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    const RandomNumbers numbers = RandomNumbers(3).of(step);
    cuts += random_mix({.mixup = 0.8, .cutmix = 1}, numbers, 28, 28).cuts ? 1 : 0;
    EXPECT_TRUE(random_mix({.cutmix = 1}, numbers, 28, 28).cuts);
    EXPECT_FALSE(random_mix({.mixup = 1}, numbers, 28, 28).cuts);
  }
  EXPECT_NEAR(cuts, 500, 60);
  EXPECT_EQ(random_mix({}, RandomNumbers(3), 28, 28).share, 1);
}

TEST(RandomErasingBesideTorchvision, HasTheSameBoxesAndNumbers) {
  for (const json& one : recipe_cases("erasing")) {
    const std::int64_t height = one.at("height"), width = one.at("width");
    const Tensor before = raw_uniform({2, height, width}, 31);
    Tensor image = before;
    const std::string fill = one.at("fill");
    erase_randomly({.probability = one.at("probability"),
                    .fill = fill == "noise" ? ErasedFill::noise : ErasedFill::zero},
                   RandomNumbers(one.at("seed").get<std::uint64_t>()), image);
    std::vector<std::int64_t> places;
    std::vector<float> values;
    for (std::int64_t i = 0; i < image.size(); ++i) {
      if (image.data()[i] == before.data()[i]) continue;
      places.push_back(i);
      values.push_back(image.data()[i]);
    }
    ASSERT_EQ(places, one.at("places").get<std::vector<std::int64_t>>()) << one.at("seed");
    EXPECT_LT(greatest_error(one.at("values"), values.data()), 1e-5) << one.at("seed");
  }
}

TEST(RandomErasing, BoxesCoverTheRangeAndNeverAWholeSide) {
  std::int64_t missing = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto box = random_box(RandomNumbers(seed), 60, 50);
    missing += box ? 0 : 1;
    if (!box) continue;
    const auto area = static_cast<double>(box->height * box->width) / 3000;
    EXPECT_TRUE(area > 0.015 && area < 0.35) << area;
    EXPECT_TRUE(box->top >= 0 && box->top + box->height <= 60 && box->height < 60);
    EXPECT_TRUE(box->left >= 0 && box->left + box->width <= 50 && box->width < 50);
  }
  EXPECT_EQ(missing, 0);
}

/// The picture of augmented cases in recipe.json.
Image augmented_picture(std::int64_t height, std::int64_t width, std::int64_t channels) {
  Image image{width, height, channels, {}};
  const Tensor raw = raw_uniform({height, width, channels}, 21);
  for (const float number : raw.values()) {
    const double value = number;
    image.pixels.push_back(
        static_cast<std::uint8_t>(std::floor((value + 2) * (value + 2) * 13 + 15)));
  }
  return image;
}

/// Expects the bytes of a case, by three sums of them.
void expect_bytes(const json& one, const Image& image, const std::string& what) {
  std::int64_t place = 0, sum = 0, weighed = 0, squares = 0;
  for (const std::uint8_t byte : image.pixels) {
    ++place;
    sum += byte;
    weighed += byte * place;
    squares += std::int64_t{byte} * byte * (place % 251);
  }
  EXPECT_EQ(sum, one.at("sum").get<std::int64_t>()) << what;
  EXPECT_EQ(weighed, one.at("weighed").get<std::int64_t>()) << what;
  EXPECT_EQ(squares, one.at("squares").get<std::int64_t>()) << what;
}

TEST(RandomAugmentBesideTorchvision, HasTheSameBytes) {
  const auto names = augmentations();
  for (const json& one : recipe_cases("augmentation")) {
    Image image = augmented_picture(one.at("height"), one.at("width"), one.at("channels"));
    const auto index = std::ranges::find(names, one.at("name").get<std::string>()) - names.begin();
    ASSERT_LT(index, std::ssize(names));
    augment(static_cast<std::size_t>(index), one.at("magnitude"), one.at("negative"), image);
    expect_bytes(one, image, one.at("name").get<std::string>() + " " + one.at("magnitude").dump());
  }
}

TEST(RandomAugmentBesideTorchvision, AppliesTheDrawnOperationsInTurn) {
  for (const json& one : recipe_cases("drawn_augmentation")) {
    Image image = augmented_picture(23, 40, 3);
    augment_randomly({.operations = one.at("operations"), .magnitude = one.at("magnitude")},
                     RandomNumbers(one.at("seed").get<std::uint64_t>()), image);
    expect_bytes(one, image, one.dump());
  }
}

TEST(RateOfStepBesidePyTorch, FollowsItsSchedules) {
  for (const json& one : recipe_cases("schedules")) {
    const RateSettings settings = {
        .schedule =
            value_of(rate_schedule_names, one.at("schedule").get<std::string>(), "schedule"),
        .highest = one.at("highest"),
        .warm_up = one.at("warm_up"),
        .steps = one.at("steps")};
    const std::vector<double> rates = one.at("rates");
    for (std::size_t step = 0; step < rates.size(); ++step) {
      EXPECT_NEAR(rate_of_step(settings, static_cast<std::int64_t>(step)), rates[step],
                  1e-12 * settings.highest)
          << one.at("schedule") << " " << step;
    }
  }
}

TEST(WeightAverageBesidePyTorch, IsThatOfAveragedModel) {
  for (const json& one : recipe_cases("averages")) {
    WeightAverage average(one.at("decay"));
    for (unsigned step = 0; step < one.at("steps"); ++step) {
      average.add(raw_uniform({3, 4}, 40 + step).values());
    }
    const std::vector<double> expected = one.at("values");
    ASSERT_EQ(average.values().size(), expected.size());
    EXPECT_LT(greatest_error(expected, average.values().data()), 2e-6);
  }
  WeightAverage none;
  none.add(std::vector<float>{1});
  EXPECT_TRUE(none.values().empty());
}

/// Writes the weights of a network of recipe.json as timm does.
std::filesystem::path write_trained(const json& trained, const TemporaryFolder& folder) {
  const TrainedNetwork network(training_spec(trained));
  const auto values = training_values(trained, network.parameters());
  NamedShapes shapes;
  std::map<std::string, Tensor> tensors;
  for (const Parameter& parameter : network.parameters().list()) {
    const float* const first = parameter.slot.in(values.data());
    shapes.emplace_back(parameter.name, parameter.shape);
    tensors.emplace(parameter.name, Tensor(parameter.shape, {first, first + parameter.slot.size}));
  }
  write_hashed_safetensors(folder / "deit.safetensors", shapes, tensors);
  return folder / "deit.safetensors";
}

TEST(ConversionBesidePyTorch, HasItsValuesLossAndGradients) {
  for (const json& one : recipe_cases("conversions")) {
    const TemporaryFolder folder;
    const Recipe recipe({{"dataset", std::string("images")},
                         {"from", write_trained(one.at("trained"), folder).string()},
                         {"from_without", std::string("positions,class_token,queries,keys")},
                         {"seed", one.at("drawn_from").get<std::int64_t>()}});
    const TrainedNetwork network(training_spec(one), gradient_forms(one));
    const std::vector<float> values = initial_values(recipe, network);
    ASSERT_EQ(network.parameters().list().size(), one.at("values").size());
    for (const Parameter& parameter : network.parameters().list()) {
      const std::vector<double> expected = one.at("values").at(parameter.name);
      ASSERT_EQ(std::ssize(expected), parameter.slot.size) << parameter.name;
      EXPECT_LT(greatest_error(expected, parameter.slot.in(values.data())), 1e-5) << parameter.name;
    }
    std::vector<float> gradients(values.size());
    TrainedNetwork::Room room;
    const LossSum sum =
        network.run(values.data(), gradients.data(), 0.25F, training_examples(one, 4, 7), room);
    EXPECT_NEAR(sum.loss / 4, one.at("loss").get<double>(), 2e-6);
    expect_gradients(one, network, gradients);
  }
}

}  // namespace
}  // namespace attnscope
