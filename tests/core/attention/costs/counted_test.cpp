// The complete convention against naive references that count themselves, operation by operation.
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "core/attention/costs/costs.h"
#include "tests/support/counted_attention.h"

namespace attnscope {
namespace {

using namespace test;

constexpr AttentionShape kShape{
    .queries = 5, .keys = 7, .heads = 2, .head_width = 3, .value_width = 4};
constexpr AttentionShape kSquare{
    .queries = 8, .keys = 8, .heads = 2, .head_width = 3, .value_width = 3};

/// Every component of `counts` as the references left it, and nothing beside them.
void expect_tallied(const std::vector<OperationCount>& counts) {
  std::map<std::string, Tally> tallies = Counted::tallies();
  for (const OperationCount& count : counts) {
    SCOPED_TRACE(count.component);
    const Tally tally = tallies[count.component];
    EXPECT_EQ(count.multiplications, tally.multiplications);
    EXPECT_EQ(count.additions, tally.additions);
    EXPECT_EQ(count.shifts, tally.shifts);
    EXPECT_EQ(count.divisions, tally.divisions);
    EXPECT_EQ(count.exponentials, tally.exponentials);
    tallies.erase(count.component);
  }
  for (const auto& [component, tally] : tallies) {
    EXPECT_EQ(tally.multiplications + tally.additions + tally.shifts + tally.divisions +
                  tally.exponentials,
              0)
        << "not in the cost: " << component;
  }
}

class Counting : public testing::Test {
 protected:
  void SetUp() override { Counted::forget(); }
  static constexpr CostConvention kComplete = CostConvention::complete;
};

TEST_F(Counting, Softmax) {
  count_softmax(kShape);
  expect_tallied(costs::softmax(kShape, kComplete));
}

TEST_F(Counting, Adder) {
  count_adder(kShape, false);
  expect_tallied(costs::adder(kShape, kComplete));
}

TEST_F(Counting, AdderWithIdentity) {
  count_adder(kSquare, true);
  expect_tallied(costs::adder(kSquare, kComplete, true));
}

TEST_F(Counting, KernelHash) {
  count_kernel_hash(kSquare, 5, 6);
  expect_tallied(costs::hash(kSquare, kComplete, {.bits = 6, .supports = 5}));
}

TEST_F(Counting, LshHash) {
  count_lsh(kSquare, 9, 6);
  expect_tallied(
      costs::hash(kSquare, kComplete, {.codes = costs::CodeKind::lsh, .bits = 6, .features = 9}));
}

TEST_F(Counting, BinaryHash) {
  count_binary(kSquare, 9);
  expect_tallied(
      costs::hash(kSquare, kComplete, {.codes = costs::CodeKind::binary, .features = 9}));
}

TEST_F(Counting, Performer) {
  count_performer(kShape, 11);
  expect_tallied(costs::performer(kShape, kComplete, 11));
}

TEST_F(Counting, Linear) {
  count_linear(kShape);
  expect_tallied(costs::linear(kShape, kComplete));
}

TEST_F(Counting, Linformer) {
  count_linformer(kShape, 3);
  expect_tallied(costs::linformer(kShape, kComplete, 3));
}

TEST_F(Counting, Synthesizers) {
  for (const auto source :
       {costs::ScoreSource::random, costs::ScoreSource::dense, costs::ScoreSource::factorised}) {
    Counted::forget();
    count_synthesizer(kShape, source, 2);
    expect_tallied(costs::synthesizer(kShape, kComplete, source, 2));
  }
}

TEST_F(Counting, Mixer) {
  const std::int64_t width = kSquare.heads * kSquare.value_width, hidden = 2 * kSquare.queries;
  Counted::enter("token mixing");
  Rows inner = products(random_rows(width, kSquare.queries), random_rows(hidden, kSquare.queries));
  for (Row& row : inner) {
    for (Counted& value : row) {
      value += Counted(0.1);
      value = value * 0.5 * (Counted(1) + exp(value * 0.7));  // erf, counted as exp is
    }
  }
  Rows outer = products(inner, random_rows(kSquare.queries, hidden));
  for (Row& row : outer) {
    for (Counted& value : row) value += Counted(0.1);
  }
  expect_tallied(costs::mixer(kSquare, kComplete, 2));
}

TEST_F(Counting, DaftFull) {
  count_daft_full(kShape, 5);
  expect_tallied(costs::daft_full(kShape, kComplete, 5));
}

TEST_F(Counting, DaftConv) {
  count_daft_conv(kSquare, 3, 2);
  expect_tallied(costs::daft_conv(kSquare, kComplete, {.kernel = 3, .heads = 2, .dimensions = 1}));
}

TEST_F(Counting, Additive) {
  count_additive(kSquare, false, 0);
  expect_tallied(costs::additive(kSquare, kComplete, costs::AdditiveKind::bidirectional));
}

TEST_F(Counting, AdditiveCausalAndWindowed) {
  for (const std::int64_t window : {0, 3}) {
    Counted::forget();
    count_additive(kSquare, true, window);
    expect_tallied(costs::additive(kSquare, kComplete, costs::AdditiveKind::causal, window));
  }
}

TEST_F(Counting, Reformer) {
  const costs::ReformerOptions options{.hashes = 1, .chunk = 2};
  count_reformer(kSquare, options);
  // The merge sort by bucket: log2(8) comparisons a token and head, which the reference leaves out.
  Counted::enter("hash rotations");
  for (std::int64_t i = 0; i < kSquare.heads * kSquare.queries * 3; ++i) {
    static_cast<void>(Counted(0) < Counted(1));
  }
  expect_tallied(costs::reformer(kSquare, kComplete, options));
}

// The papers' conventions leave components out; what they keep of matrix products is the same.
TEST_F(Counting, PapersCountTheSameMatrixProducts) {
  count_softmax(kShape);
  const auto tallies = Counted::tallies();
  for (const auto convention : {CostConvention::adder, CostConvention::ecoformer}) {
    for (const OperationCount& count : costs::softmax(kShape, convention)) {
      if (count.component == "softmax") continue;
      EXPECT_EQ(count.multiplications, tallies.at(count.component).multiplications);
      EXPECT_EQ(count.additions, tallies.at(count.component).additions);
      EXPECT_EQ(count.bytes_moved, 0);
    }
  }
}

}  // namespace
}  // namespace attnscope
