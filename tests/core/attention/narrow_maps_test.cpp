// Mechanisms whose map is a product of narrow matrices: comparison with their authors' modules, and
// the convolution T of the values. mechanism_test.cpp checks the requirements of all mechanisms.
#include <Eigen/LU>
#include <cmath>
#include <gtest/gtest.h>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/parameters/parameters_json.h"
#include "tests/support/naive_twins.h"
#include "tests/support/near.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

constexpr const char* kWithTerm[] = {"focused", "inline", "agent", "soft", "rala", "mlla"};

/// Tokens of a grid after a prefix, and kernels of side 3.
struct OnGrid {
  TokenLayout layout{.prefix = 2, .rows = 3, .columns = 5};
  RandomAttention data{17, 17, 2, 4, 3, 7};

  explicit OnGrid(Shape kernels = {6, 3, 3}) {
    data.parameters.emplace("dwc", random_normal(std::move(kernels), 9));
  }
  [[nodiscard]] AttentionInput input() const {
    AttentionInput input = data.input();
    input.layout = &layout;
    return input;
  }
};

/// The mechanism with its term. Nine agents are a square number, and overlap on a grid of 3 × 5.
std::unique_ptr<const Mechanism> with_term(const std::string& name, bool term = true) {
  ParameterValues parameters = {{"term", term}};
  if (name == "agent") parameters["agents"] = std::int64_t{9};
  if (name == "soft") parameters["landmarks"] = std::int64_t{4};
  return make_mechanism({name, parameters});
}

std::string refusal(const Mechanism& mechanism, const AttentionInput& input) {
  try {
    (void)mechanism.forward(input);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.subject();
  }
  return "not refused";
}

TEST(NarrowMaps, MapsAndOutputsAreThoseOfTheAuthorsModules) {
  for (const nlohmann::json& reference : read_test_data("attention/narrow_maps.json").at("cases")) {
    const std::string name = reference.at("mechanism");
    SCOPED_TRACE(name + " " + reference.at("seed").dump());
    const TokenLayout layout{.prefix = reference.at("prefix"),
                             .rows = reference.at("rows"),
                             .columns = reference.at("columns")};
    RandomAttention data =
        raw_attention(layout.prefix + layout.rows * layout.columns, reference.at("heads"),
                      reference.at("width"), reference.at("seed"));
    for (float& value : data.queries.values()) value *= reference.at("factor").get<float>();
    if (name == "soft") data.keys = data.queries;  // its layers have no keys
    for (const nlohmann::json& one : reference.at("tensors")) {
      const Shape shape = one.at("shape");
      Tensor tensor = one.contains("values") ? Tensor(shape, one.at("values"))
                                             : raw_uniform(shape, one.at("seed"));
      for (float& value : tensor.values()) value *= one.value("factor", 1.0F);
      data.parameters.emplace(one.at("name").get<std::string>(), std::move(tensor));
    }
    const auto mechanism =
        make_mechanism({name, parameters_from_json(reference.at("parameters").dump())});
    AttentionInput input = data.input();
    input.layout = &layout;
    if (mechanism->structure(input.shape()).channels > 1) input.channel = 0;
    expect_values(mechanism->implied_map(input), reference.at("map"), 1e-5, "map");
    expect_values(mechanism->forward(input), reference.at("output"), 1e-5, "output");
  }
}

TEST(NarrowMaps, WithTheTermEachChannelHasItsMap) {
  for (const char* const name : kWithTerm) {
    for (const Shape& kernels : {Shape{6, 3, 3}, Shape{3, 3, 3}, Shape{6, 1, 7, 7}}) {
      SCOPED_TRACE(std::string(name) + " " + to_string(kernels));
      const OnGrid grid(kernels);
      const auto mechanism = with_term(name);
      EXPECT_EQ(mechanism->structure(grid.input().shape()).channels, 3);
      EXPECT_FALSE(mechanism->factors(grid.input()));
      const Tensor output = mechanism->forward(grid.input());
      AttentionInput input = grid.input();
      Tensor mean({2, 17, 17});
      for (std::int64_t channel = 0; channel < 3; ++channel) {
        input.channel = channel;
        const Tensor map = mechanism->implied_map(input);
        for (std::int64_t head = 0; head < 2; ++head) {
          const NaiveMap expected = naive_map(mechanism->choice(), input, head);
          for (std::int64_t i = 0; i < 17; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < 17; ++j) {
              const auto weight = static_cast<double>(map.slice(head)(i, j));
              ASSERT_NEAR(weight,
                          expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], 1e-5);
              sum += weight * static_cast<double>(input.values(j, head * 3 + channel));
            }
            ASSERT_NEAR(output.matrix()(i, head * 3 + channel), sum, 2e-5);
          }
          mean.slice(head) += map.slice(head) / 3.0F;
        }
      }
      expect_near(mechanism->implied_map(grid.input()), mean, 1e-5F);
    }
  }
}

TEST(NarrowMaps, WithoutTheSettingOrTheKernelsThereIsNoTerm) {
  for (const char* const name : kWithTerm) {
    OnGrid grid;
    const auto plain = with_term(name, false);
    EXPECT_EQ(plain->structure(grid.input().shape()).channels, 1);
    const Tensor expected = plain->implied_map(grid.input());
    grid.data.parameters.clear();
    expect_near(with_term(name)->implied_map(grid.input()), expected, 0);
  }
}

TEST(NarrowMaps, ATermThatDoesNotFitIsRefused) {
  for (const char* const name : kWithTerm) {
    const auto mechanism = with_term(name);
    OnGrid grid;
    AttentionInput input = grid.input();
    input.channel = 3;
    EXPECT_EQ(refusal(*mechanism, input), "channel");
    input.channel.reset();
    input.layout = nullptr;
    EXPECT_EQ(refusal(*mechanism, input), "term");
    grid.layout.columns = 4;
    EXPECT_EQ(refusal(*mechanism, grid.input()), "term");
    for (const Shape& kernels : {Shape{6, 2, 2}, Shape{6, 3, 5}, Shape{4, 3, 3}, Shape{54}}) {
      EXPECT_EQ(refusal(*mechanism, OnGrid(kernels).input()), "dwc");
    }
  }
}

TEST(FocusedAttention, DoesNotKnowTheOrderOfTokensWithoutAnEncoding) {
  const RandomAttention data(9, 9, 2, 4, 4, 3);
  RandomAttention reversed = data;
  for (Tensor* tensor : {&reversed.queries, &reversed.keys, &reversed.values}) {
    tensor->matrix() = tensor->matrix().colwise().reverse().eval();
  }
  const auto mechanism = make_mechanism({"focused", {}});
  const Tensor output = mechanism->forward(data.input());
  const Tensor found = mechanism->forward(reversed.input());
  EXPECT_LT((found.matrix().colwise().reverse() - output.matrix()).cwiseAbs().maxCoeff(), 1e-5F);
}

TEST(FocusedAttention, ALayersTensorOfAnotherShapeIsRefused) {
  RandomAttention data(9, 9, 2, 4, 4, 3);
  data.parameters.emplace("scale", Tensor({7}));
  const auto mechanism = make_mechanism({"focused", {}});
  EXPECT_EQ(refusal(*mechanism, data.input()), "scale");
  data.parameters.clear();
  data.parameters.emplace("positional_encoding", Tensor({8, 9}));
  EXPECT_EQ(refusal(*mechanism, data.input()), "positional_encoding");
}

TEST(AgentAttention, OnAGridAgentsAreASquare) {
  const OnGrid grid;
  const Error error = refusal_of([&] {
    (void)make_mechanism({"agent", {{"agents", std::int64_t{12}}}})->forward(grid.input());
  });
  EXPECT_EQ(error.subject(), "agent agents");
  EXPECT_EQ(error.remedy_text(), "set agents=9");
}

TEST(Nystrom, IsSoftmaxWithAsManyLandmarksAsTokens) {
  const RandomAttention data(9, 9, 2, 4, 4, 3);
  const Tensor expected = make_mechanism({"softmax", {}})->implied_map(data.input());
  expect_near(make_mechanism({"nystrom", {}})->implied_map(data.input()), expected, 1e-6F);
}

TEST(Nystrom, ConvergesToRowsThatSumToOne) {
  const RandomAttention data(40, 40, 2, 4, 4, 3);
  const Tensor map =
      make_mechanism(
          {"nystrom", {{"landmarks", std::int64_t{4}}, {"iterations", std::int64_t{60}}}})
          ->implied_map(data.input());
  for (const float value : map.values()) ASSERT_TRUE(std::isfinite(value));
  EXPECT_LT((map.matrix().cast<double>().rowwise().sum().array() - 1).abs().maxCoeff(), 1e-4);
}

TEST(Soft, KernelsOfLandmarksThatDoNotCoverTheAreasAreRefused) {
  const auto mechanism = make_mechanism({"soft", {{"landmarks", std::int64_t{4}}}});
  RandomAttention data(16, 16, 2, 4, 3, 7);
  const TokenLayout layout{.rows = 4, .columns = 4};
  for (const Shape& shape : {Shape{4, 4, 2, 2}, Shape{4, 4, 1, 1}, Shape{4, 2, 2}}) {
    data.parameters.clear();
    data.parameters.emplace("landmark_kernel", random_normal(shape, 9));
    AttentionInput input = data.input();
    input.layout = &layout;
    const bool fits = shape.back() == 2 && shape.size() == 4;
    EXPECT_EQ(refusal(*mechanism, input), fits ? "not refused" : "landmark_kernel");
  }
}

TEST(Soft, ManyIterationsInvertTheKernel) {
  RandomAttention data(4, 4, 1, 4, 4, 3);
  data.keys = data.queries;
  const auto mechanism =
      make_mechanism({"soft", {{"landmarks", std::int64_t{4}}, {"iterations", std::int64_t{60}}}});
  const AttentionInput input = data.input();
  const MatrixD rows = input.queries.cast<double>();
  MatrixD kernel(4, 4);
  for (Eigen::Index i = 0; i < 4; ++i) {
    for (Eigen::Index j = 0; j < 4; ++j) {
      kernel(i, j) = std::exp(-(rows.row(i) - rows.row(j)).squaredNorm() / 4);
    }
  }
  const MatrixD ridge = kernel + 0.01 * MatrixD::Identity(4, 4);
  const MatrixD expected = kernel * ridge.inverse() * kernel;
  const Tensor map = mechanism->implied_map(input);
  EXPECT_LT((map.matrix().cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(Sima, AChannelThatIsZeroInEveryTokenHasNoWeight) {
  RandomAttention data(9, 9, 1, 4, 4, 3);
  data.keys.matrix().col(2).setZero();
  const auto mechanism = make_mechanism({"sima", {}});
  const Tensor expected = mechanism->implied_map(data.input());
  data.queries.matrix().col(2).setConstant(3);
  expect_near(mechanism->implied_map(data.input()), expected, 1e-7F);
}

}  // namespace
}  // namespace attnscope
