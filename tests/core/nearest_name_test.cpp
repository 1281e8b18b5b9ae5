#include "core/nearest_name.h"

#include <gtest/gtest.h>
#include <vector>

namespace attnscope {
namespace {

const std::vector<std::string> kCommands = {"compare",     "compose", "energy",   "evaluate",
                                            "figure",      "figures", "formats",  "gui",
                                            "learn-codes", "sweep",   "spectrum", "trace"};

TEST(NearestName, ForgivesOneChange) {
  EXPECT_EQ(nearest_name("specturm", kCommands), "spectrum");  // neighbours are swapped
  EXPECT_EQ(nearest_name("spectum", kCommands), "spectrum");   // one letter is missing
  EXPECT_EQ(nearest_name("traice", kCommands), "trace");       // one letter too many
  EXPECT_EQ(nearest_name("enerhy", kCommands), "energy");      // one letter differs
  EXPECT_EQ(nearest_name("learncodes", kCommands), "learn-codes");
}

TEST(NearestName, ABeginningMeansTheShortestThatContinuesIt) {
  EXPECT_EQ(nearest_name("fig", kCommands), "figure");
  EXPECT_EQ(nearest_name("eval", kCommands), "evaluate");
}

TEST(NearestName, IsNoneFarFromAllNames) {
  EXPECT_EQ(nearest_name("xyzzy", kCommands), "");
  EXPECT_EQ(nearest_name("model.safetensors", kCommands), "");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

TEST(NearestName, AMeasureIsSymmetricAndKnowsEqualNames) {
  for (const std::string& name : kCommands) {
    const std::vector<std::string> others = {"zzz", name};
    EXPECT_EQ(nearest_name(name, others), name);
  }
}

}  // namespace
}  // namespace attnscope
