// Attention and its gradients compared with the program's mechanisms, central differences and plain
// sums.
#include "core/training/attention/trained_attention.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

#include "core/attention/mechanism.h"
#include "core/error.h"
#include "core/training/kernels/products.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

struct Shapes {
  std::int64_t tokens, width;
};

/// Queries, keys, values and the output's gradient side by side: [N, 4·d].
struct Head {
  explicit Head(const Shapes& shapes)
      : all(raw_uniform({shapes.tokens, 4 * shapes.width}, 5)), gradients(all.shape()) {}

  [[nodiscard]] ConstStridedMatrixMap part(std::int64_t which) const {
    const std::int64_t width = all.extent(1) / 4;
    return {all.data() + which * width, all.extent(0), width, Eigen::OuterStride<>(4 * width)};
  }
  [[nodiscard]] StridedMatrixMap gradient(std::int64_t which) {
    const std::int64_t width = all.extent(1) / 4;
    return {gradients.data() + which * width, all.extent(0), width,
            Eigen::OuterStride<>(4 * width)};
  }
  [[nodiscard]] AttentionTensors tensors() const { return {part(0), part(1), part(2)}; }

  Tensor all, gradients;
};

/// Σ output ⊙ part 3 in double, by the plain equations. The tests compare with its gradients.
double naive_objective(const TrainedAttentionForm& form, const std::vector<double>& all,
                       const Shapes& shapes) {
  const std::int64_t tokens = shapes.tokens, width = shapes.width;
  const auto at = [&](std::int64_t part, std::int64_t row, std::int64_t column) {
    return all[static_cast<std::size_t>((row * 4 + part) * width + column)];
  };
  const bool adder = form.mechanism.name == "adder", linear = form.mechanism.name == "linear";
  const auto phi = [](double x) { return x < 0 ? std::exp(x) : x + 1; };
  const bool additive = form.mechanism.name == "additive";
  const auto score = [&](std::int64_t i, std::int64_t j) {
    double sum = 0;
    if (additive) i = 0;
    for (std::int64_t c = 0; c < width; ++c) {
      const double q = at(0, i, c), k = at(1, j, c);
      sum += adder ? -std::abs(q - k) : linear ? phi(q) * phi(k) : q * k;
    }
    const auto d = static_cast<double>(width);
    return linear ? sum : sum / std::sqrt(adder ? 2 * d * (1 - 2 / std::numbers::pi) : d);
  };
  double objective = 0;
  if (form.mechanism.name == "daft-full") {
    const double* const bias = all.data() + tokens * 4 * width;  // w [N, N]
    for (std::int64_t i = 0; i < tokens; ++i) {
      for (std::int64_t c = 0; c < width; ++c) {
        double above = 0, below = 0;
        for (std::int64_t j = 0; j < tokens; ++j) {
          const double weight = std::exp(bias[i * tokens + j] + at(1, j, c));
          above += weight * at(2, j, c);
          below += weight;
        }
        objective += above / below / (1 + std::exp(-at(0, i, c))) * at(3, i, c);
      }
    }
    return objective;
  }
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t keys = form.causal ? i + 1 : tokens;
    std::vector<double> weights;
    double total = 0;
    for (std::int64_t j = 0; j < keys; ++j) {
      weights.push_back(linear ? score(i, j) : std::exp(score(i, j)));
      total += weights.back();
    }
    for (std::int64_t j = 0; j < keys; ++j) {
      double weight = weights[static_cast<std::size_t>(j)] / total;
      const auto identity = form.mechanism.parameters.find("identity");
      if (i == j && identity != form.mechanism.parameters.end()) weight += 1;
      for (std::int64_t c = 0; c < width; ++c) objective += weight * at(2, j, c) * at(3, i, c);
    }
  }
  return objective;
}

const Shapes kShapes[] = {{1, 3}, {7, 4}, {9, 5}, {33, 8}, {66, 3}, {300, 2}};

class TrainedAttentionTest : public testing::TestWithParam<TrainedAttentionForm> {};

TEST_P(TrainedAttentionTest, GradientsAreCentralDifferences) {
  const auto attention = make_trained_attention(GetParam());
  for (const Shapes& shapes : kShapes) {
    Head head(shapes);
    AttentionRoom room;
    attention->backward(head.tensors(), head.part(3),
                        {head.gradient(0), head.gradient(1), head.gradient(2)}, room);
    std::vector<double> numbers(head.all.values().begin(), head.all.values().end());
    // |x| has no derivative where a step crosses 0: steps are smaller than the distance of the
    // numbers.
    constexpr double step = 1e-7;
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i<shapes.tokens; i += shapes.tokens> 40 ? 13 : 1) {
      for (std::int64_t column = 0; column < 3 * shapes.width; ++column) {
        const auto at = static_cast<std::size_t>(i * 4 * shapes.width + column);
        const double number = numbers[at];
        numbers[at] = number + step;
        const double above = naive_objective(GetParam(), numbers, shapes);
        numbers[at] = number - step;
        const double below = naive_objective(GetParam(), numbers, shapes);
        numbers[at] = number;
        const double expected = (above - below) / (2 * step), found = head.gradients.data()[at];
        difference += (found - expected) * (found - expected);
        size += expected * expected;
      }
    }
    EXPECT_LT(std::sqrt(difference / std::max(size, 1e-12)), 1e-4)
        << shapes.tokens << " tokens of " << shapes.width;
  }
}

TEST_P(TrainedAttentionTest, ForwardEqualsTheMechanism) {
  const auto attention = make_trained_attention(GetParam());
  const auto mechanism = make_mechanism(GetParam().mechanism);
  for (const Shapes& shapes : kShapes) {
    const Head head(shapes);
    const Matrix queries = head.part(0), keys = head.part(1), values = head.part(2);
    const AttentionInput input{.queries = {queries.data(), shapes.tokens, shapes.width},
                               .keys = {keys.data(), shapes.tokens, shapes.width},
                               .values = {values.data(), shapes.tokens, shapes.width},
                               .causal = GetParam().causal};
    const Tensor expected = mechanism->forward(input);
    Matrix found(shapes.tokens, shapes.width);
    AttentionRoom room;
    attention->forward(head.tensors(), rows_of(found), room);
    EXPECT_LT((found - expected.matrix()).cwiseAbs().maxCoeff(), 1e-5) << shapes.tokens;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrainedAttentionTest,
                         testing::Values(TrainedAttentionForm{{"additive", {}}},
                                         TrainedAttentionForm{{"additive", {}}, true},
                                         TrainedAttentionForm{{"softmax", {}}},
                                         TrainedAttentionForm{{"adder", {}}},
                                         TrainedAttentionForm{{"adder", {{"identity", true}}}},
                                         TrainedAttentionForm{{"linear", {}}},
                                         TrainedAttentionForm{{"softmax", {}}, true},
                                         TrainedAttentionForm{{"adder", {}}, true},
                                         TrainedAttentionForm{{"linear", {}}, true}),
                         [](const auto& info) {
                           const bool identity = !info.param.mechanism.parameters.empty();
                           return info.param.mechanism.name + (identity ? "WithIdentity" : "") +
                                  (info.param.causal ? "Causal" : "");
                         });

TEST(TrainedDaftFullTest, GradientsAreCentralDifferencesAlsoOfItsBiases) {
  TrainedAttentionForm form{{"daft-full", {{"factors", std::int64_t{0}}}}};
  for (const Shapes& shapes : {Shapes{1, 3}, Shapes{7, 4}, Shapes{150, 2}}) {
    const std::int64_t tokens = shapes.tokens;
    form.shape = {tokens, tokens, 1, shapes.width, shapes.width};
    const auto attention = make_trained_attention(form);
    Head head(shapes);
    const Tensor bias = raw_uniform({tokens, tokens}, 8);
    Tensor d_bias({tokens, tokens});
    const float* const own[] = {bias.data()};
    float* const of_own[] = {d_bias.data()};
    AttentionTensors tensors = head.tensors();
    tensors.own = own;
    AttentionRoom room;
    attention->backward(tensors, head.part(3),
                        {head.gradient(0), head.gradient(1), head.gradient(2), of_own}, room);
    std::vector<double> numbers(head.all.values().begin(), head.all.values().end());
    numbers.insert(numbers.end(), bias.values().begin(), bias.values().end());
    const auto slope_at = [&](std::size_t at) {
      constexpr double step = 1e-6;
      std::vector<double> moved = numbers;
      moved[at] += step;
      const double above = naive_objective(form, moved, shapes);
      moved[at] -= 2 * step;
      return (above - naive_objective(form, moved, shapes)) / (2 * step);
    };
    const std::int64_t stride = tokens > 40 ? 997 : 1, inputs = tokens * 4 * shapes.width;
    for (std::int64_t i = 0; i < inputs; i += stride) {
      if (i % (4 * shapes.width) >= 3 * shapes.width) continue;
      const double expected = slope_at(static_cast<std::size_t>(i));
      EXPECT_NEAR(head.gradients.data()[i], expected, 1e-4 * (1 + std::abs(expected))) << i;
    }
    for (std::int64_t i = 0; i < tokens * tokens; i += stride) {
      const double expected = slope_at(static_cast<std::size_t>(inputs + i));
      EXPECT_NEAR(d_bias.data()[i], expected, 1e-4 * (1 + std::abs(expected))) << i;
    }
  }
}

TEST(TrainedAttentionTest, NamesTheSettingThatHasNoGradients) {
  const auto refused = [](const TrainedAttentionForm& form) -> std::string {
    try {
      (void)make_trained_attention(form);
      return "nothing";
    } catch (const Error& error) {
      return error.subject();
    }
  };
  EXPECT_EQ(refused({.mechanism = {"hash", {}}}), "codes");
  const MechanismChoice learned{"hash",
                                {{"codes", std::string("learned")}, {"supports", std::int64_t{9}}}};
  EXPECT_EQ(refused({.mechanism = learned}), "nothing");
  EXPECT_EQ(refused({.mechanism = learned, .causal = true}), "codes");
  EXPECT_EQ(refused({.mechanism = learned, .shorter = true}), "codes");
  EXPECT_EQ(refused({.mechanism = learned, .shape = {8, 8, 2, 3, 3}}), "hash supports");
  EXPECT_EQ(refused({.mechanism = {"linformer", {}}, .causal = true}), "mechanism");
  EXPECT_EQ(refused({.mechanism = {"linformer", {}}, .shorter = true}), "mechanism");
  EXPECT_EQ(refused({.mechanism = {"sima", {}}, .causal = true}), "mechanism");
  EXPECT_EQ(refused({.mechanism = {"inline", {}}, .shorter = true}), "nothing");
  const MechanismChoice convolved{"inline", {{"term", true}}};
  EXPECT_EQ(refused({.mechanism = convolved}), "nothing");
  EXPECT_EQ(refused({.mechanism = convolved, .shape = {9, 9, 2, 3, 3}}), "term");
  EXPECT_EQ(refused({.mechanism = {"forgetting", {}}, .shape = {9, 7, 2, 3, 3}}), "forgetting");
  ParameterValues window{{"full_keys", true}, {"conv_heads", std::int64_t{3}}};
  EXPECT_EQ(refused({.mechanism = {"daft-local", window}, .shape = {9, 9, 2, 3, 3}}), "nothing");
  window["dimensions"] = std::int64_t{2};
  EXPECT_EQ(refused({.mechanism = {"daft-local", window}, .shape = {9, 9, 2, 3, 3}}), "dimensions");
  window.erase("dimensions");
  EXPECT_EQ(refused({.mechanism = {"daft-local", window}, .shape = {9, 9, 2, 4, 4}}), "conv_heads");
  EXPECT_EQ(
      refused({.mechanism = {"cosformer", {{"span", std::int64_t{4}}}}, .shape = {9, 9, 1, 3, 3}}),
      "cosformer span");
  EXPECT_EQ(refused({.mechanism = {"linformer", {{"landmarks", std::int64_t{12}}}},
                     .shape = {9, 9, 1, 3, 3}}),
            "linformer landmarks");
}

TEST(TrainedAttentionTest, MechanismsWithoutGradientsAreRefusedWithTheReasonAndAList) {
  try {
    (void)make_trained_attention({.mechanism = {"reformer", {}}});
    FAIL();
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("no gradient passes"), std::string::npos) << what;
    EXPECT_NE(what.find("adder, additive, agent, cosformer"), std::string::npos) << what;
  }
}

class DifferenceGradientTest : public testing::TestWithParam<DifferenceGradient> {};

TEST_P(DifferenceGradientTest, IsThePlainSum) {
  const auto f = [](double x) {
    if (GetParam() == DifferenceGradient::sign) return static_cast<double>((x > 0) - (x < 0));
    return GetParam() == DifferenceGradient::hard_tanh ? std::clamp(x, -1.0, 1.0) : x;
  };
  for (const auto& [m, n, k, seen] : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                      {4, 8, 3, 8},
                                      {5, 33, 17, 33},
                                      {9, 41, 48, 40},
                                      {7, 70, 5, 3}}) {
    Tensor a = raw_uniform({m, k}, 1), b = raw_uniform({n, k}, 2);
    const Tensor g = raw_uniform({m, seen}, 3);
    b.data()[0] = a.data()[0];  // the sign is 0 here
    const PackedRows packed(rows_of(std::as_const(b).data(), n, k));
    Tensor da({m, k}), db({n, k});
    std::vector<float> packed_db(static_cast<std::size_t>(packed_size(n, k)));
    add_difference_gradients(rows_of(std::as_const(a).data(), m, k), packed,
                             rows_of(g.data(), m, seen), GetParam(), rows_of(da.data(), m, k),
                             packed_db.data());
    add_unpacked(packed_db.data(), rows_of(db.data(), n, k));
    MatrixD of_a = MatrixD::Zero(m, k), of_b = MatrixD::Zero(n, k);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < seen; ++j) {
        for (std::int64_t c = 0; c < k; ++c) {
          const double passed = g.matrix()(i, j) * f(a.matrix()(i, c) - b.matrix()(j, c));
          of_a(i, c) += passed;
          of_b(j, c) -= passed;
        }
      }
    }
    EXPECT_LT((da.matrix().cast<double>() - of_a).cwiseAbs().maxCoeff(), 1e-4) << m << " " << n;
    EXPECT_LT((db.matrix().cast<double>() - of_b).cwiseAbs().maxCoeff(), 1e-4) << m << " " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DifferenceGradientTest,
                         testing::Values(DifferenceGradient::sign, DifferenceGradient::hard_tanh,
                                         DifferenceGradient::full));

}  // namespace
}  // namespace attnscope
