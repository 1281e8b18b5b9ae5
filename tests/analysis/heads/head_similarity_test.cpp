#include "analysis/heads/head_similarity.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/support/inside_models.h"

namespace attnscope {
namespace {

TEST(HeadSimilarity, AgreesWithPyTorch) {
  for (const char* const name : {"vit", "gpt2"}) {
    const InsideModel model(name);
    const Trace& trace = *model.subject().trace;
    EXPECT_LT(greatest_difference(head_similarity(trace, HeadLikeness::cosine).similarity,
                                  model.expected("cosine")),
              1e-5);
    const HeadSimilarity found = head_similarity(trace, HeadLikeness::jensen_shannon);
    EXPECT_LT(greatest_difference(found.similarity, model.expected("jensen_shannon")), 1e-5);
    const MatrixD joins = model.expected("joins");
    ASSERT_EQ(std::ssize(found.joins), joins.rows());
    for (std::size_t i = 0; i < found.joins.size(); ++i) {
      const auto row = joins.row(static_cast<Eigen::Index>(i));
      EXPECT_EQ(found.joins[i].first, row(0));
      EXPECT_EQ(found.joins[i].second, row(1));
      EXPECT_NEAR(found.joins[i].distance, row(2), 1e-5);
      EXPECT_EQ(found.joins[i].size, row(3));
    }
    std::vector<std::int64_t> order = found.clustered;
    std::ranges::sort(order);
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(order[i], static_cast<std::int64_t>(i));
  }
}

}  // namespace
}  // namespace attnscope
