#include "core/training/run/training_log.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

TEST(TrainingLog, FindsTablesThatHaveRows) {
  TrainingLog log;
  log.set({{"probes/rank", {3, {}}}});
  log.add("tests/loss", 2.0);
  log.add("tests/loss", 0.5);
  EXPECT_EQ(log.find("tests/loss"), &log.tables().at("tests/loss"));
  EXPECT_EQ(log.last("tests/loss"), 0.5);
  for (const char* const none : {"probes/rank", "tests/step"}) {
    EXPECT_EQ(log.find(none), nullptr);
    EXPECT_EQ(log.last(none), std::nullopt);
  }
}

TEST(TrainingLog, RowsOfATableAreAsWide) {
  TrainingLog log;
  const double pair[] = {1, 2};
  log.add("probes/rank", pair);
  log.add("probes/rank", pair);
  EXPECT_EQ(log.find("probes/rank")->rows(), 2);
  EXPECT_EQ(log.last("probes/rank"), 2.0);
  EXPECT_THROW(log.add("probes/rank", 1.0), Error);
}

}  // namespace
}  // namespace attnscope
