// Fastformer's attentions compared with a naive twin in double: outputs, and gradients as central
// differences.
#include <cmath>
#include <gtest/gtest.h>
#include <ostream>

#include "core/training/parts/trained_block.h"
#include "tests/support/reference_maps.h"

namespace attnscope {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct TrainedFastformerCase {
  const char* name;
  std::int64_t window = 0;
  float importance = 1;  ///< factor of the importance weights
  std::vector<std::int64_t> lengths = {7, 4};
};

void PrintTo(const TrainedFastformerCase& one, std::ostream* stream) { *stream << one.name; }

class NaiveFastformer {
 public:
  static constexpr std::int64_t kWidth = 6, kHeads = 2;
  static constexpr double kEps = 1e-5;

  NaiveFastformer(const ParameterTable& table, const TrainedFastformerCase& one)
      : table_(table), case_(one) {}

  [[nodiscard]] Rows run(const std::vector<float>& values, const Matrix& x) const {
    Rows made(x.rows(), x.cols());
    Eigen::Index row = 0;
    for (const std::int64_t tokens : case_.lengths) {
      made.middleRows(row, tokens) = layer(values, x.middleRows(row, tokens).cast<double>());
      row += tokens;
    }
    return made;
  }

 private:
  [[nodiscard]] Rows tensor(const std::vector<float>& values, const std::string& name) const {
    const Parameter& parameter = *table_.find(name);
    const std::int64_t rows = parameter.shape.size() > 1 ? parameter.shape[0] : 1;
    return Eigen::Map<const Matrix>(parameter.slot.in(values.data()), rows,
                                    parameter.slot.size / rows)
        .cast<double>();
  }

  [[nodiscard]] Rows norm(const std::vector<float>& values, const std::string& name,
                          const Rows& x) const {
    const Rows weight = tensor(values, name + ".weight"), bias = tensor(values, name + ".bias");
    Rows made = x;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const double mean = x.row(i).mean();
      const double variance = (x.row(i).array() - mean).square().mean();
      made.row(i) =
          (x.row(i).array() - mean) / std::sqrt(variance + kEps) * weight.array() + bias.array();
    }
    return made;
  }

  [[nodiscard]] Rows pool(const Rows& tokens, const Rows& importance) const {
    constexpr std::int64_t each = kWidth / kHeads;
    Rows made(tokens.rows(), tokens.cols());
    for (std::int64_t first = 0; first < kWidth; first += each) {
      const Rows head = tokens.middleCols(first, each);
      const Eigen::VectorXd logits = head * importance.middleCols(first, each).transpose() /
                                     std::sqrt(static_cast<double>(each));
      for (Eigen::Index i = 0; i < tokens.rows(); ++i) {
        const Eigen::Index from =
            case_.window > 0 ? std::max<Eigen::Index>(i + 1 - case_.window, 0) : 0;
        const auto seen = logits.segment(from, i + 1 - from);
        const Eigen::VectorXd weights = (seen.array() - seen.maxCoeff()).exp();
        made.row(i).segment(first, each) =
            weights.transpose() * head.middleRows(from, i + 1 - from) / weights.sum();
      }
    }
    return made;
  }

  [[nodiscard]] Rows layer(const std::vector<float>& values, const Rows& x) const {
    const auto product = [&](const Rows& of, const char* name) -> Rows {
      return of * tensor(values, std::string(name) + ".weight").transpose();
    };
    const Rows n = norm(values, "norm", x);
    const Rows pooled = pool(product(n, "query"), tensor(values, "query_importance"));
    const Rows mixed = n + product(pooled, "out").cwiseProduct(product(n, "key"));
    const Rows second = pool(norm(values, "middle_norm", mixed), tensor(values, "key_importance"));
    return mixed + second.cwiseProduct(product(n, "value"));
  }

  const ParameterTable& table_;
  const TrainedFastformerCase& case_;
};

class TrainedFastformerTest : public testing::TestWithParam<TrainedFastformerCase> {
 protected:
  TrainedFastformerTest()
      : layer_(table_, "",
               {"norm", "query", "key", "value", "out", "middle_norm", "query_importance",
                "key_importance"},
               {NaiveFastformer::kWidth, NaiveFastformer::kHeads, NaiveFastformer::kEps,
                make_trained_attention(
                    {.mechanism = {"additive", {{"causal", true}, {"window", GetParam().window}}},
                     .causal = true,
                     .learned_importances = true})}),
        naive_(table_, GetParam()) {
    unsigned seed = 71;
    for (const Parameter& parameter : table_.list()) {
      const Tensor numbers = raw_uniform(parameter.shape, seed++);
      const bool importance = parameter.name.ends_with("importance");
      // The scales are powers of two, so that steps of the numbers stay exact.
      for (const float number : numbers.values()) {
        values_.push_back(number * (importance ? GetParam().importance : 0.5F));
      }
    }
    std::int64_t tokens = 0;
    for (const std::int64_t length : GetParam().lengths) tokens += length;
    x_ = raw_uniform({tokens, NaiveFastformer::kWidth}, 11).matrix();
    passed_ = raw_uniform({tokens, NaiveFastformer::kWidth}, 12).matrix();
  }

  [[nodiscard]] double objective() const {
    return naive_.run(values_, x_).cwiseProduct(passed_.cast<double>()).sum();
  }

  /// Expects `found` to be the gradient with respect to `numbers`.
  void expect_central_differences(float* numbers, const float* found, std::int64_t count,
                                  const std::string& name) {
    constexpr float kStep = 1.0F / (1 << 17);
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const float was = numbers[i];
      numbers[i] = was + kStep;
      const double above = objective();
      numbers[i] = was - kStep;
      const double below = objective();
      numbers[i] = was;
      const double expected = (above - below) / (2 * static_cast<double>(kStep));
      difference += std::pow(static_cast<double>(found[i]) - expected, 2);
      size += expected * expected;
    }
    // For a single token the mean is that token, whatever its weight: the gradient is zero.
    if (size < 1e-12) {
      EXPECT_LT(difference, 1e-10) << name;
      return;
    }
    EXPECT_LT(std::sqrt(difference / size), 1e-4) << name;
  }

  ParameterTable table_;
  TrainedFastformer layer_;
  NaiveFastformer naive_;
  std::vector<float> values_;
  Matrix x_, passed_;
  TrainedFastformer::Memory memory_;
};

TEST_P(TrainedFastformerTest, EqualsTheNaiveMechanism) {
  Matrix y;
  layer_.forward(values_.data(), GetParam().lengths, x_, y, memory_);
  const Rows expected = naive_.run(values_, x_);
  EXPECT_LT((y.cast<double>() - expected).norm() / expected.norm(), 2e-6);
}

TEST_P(TrainedFastformerTest, GradientsAreCentralDifferences) {
  Matrix y, dx = passed_;
  std::vector<float> gradients(values_.size());
  TrainedFastformer::Room room;
  layer_.forward(values_.data(), GetParam().lengths, x_, y, memory_);
  layer_.backward(values_.data(), gradients.data(), GetParam().lengths, x_, dx, memory_, room);
  for (const Parameter& parameter : table_.list()) {
    expect_central_differences(parameter.slot.in(values_.data()),
                               parameter.slot.in(gradients.data()), parameter.slot.size,
                               parameter.name);
  }
  expect_central_differences(x_.data(), dx.data(), x_.size(), "x");
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainedFastformerTest,
    testing::Values(TrainedFastformerCase{"All", 0}, TrainedFastformerCase{"Window", 3},
                    TrainedFastformerCase{"WindowOfOne", 1},
                    TrainedFastformerCase{"LongWindow", 50},
                    TrainedFastformerCase{"FarImportances", 4, 64, {40, 1, 3}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace attnscope
