// Files with several state dicts: raw weights and their average over training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/architecture/architecture.h"
#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "tests/support/paths.h"
#include "tests/support/refusal.h"

namespace attnscope {
namespace {

const std::filesystem::path kStateDictFile =
    source_folder() + "/tests/data/checkpoint/averaged.pth";  // written by make_pytorch.py

float last_bias(const Checkpoint& checkpoint) {
  return checkpoint.at("module.head.bias").view().to_float().data()[2];
}

TEST(StateDicts, AllAreListedAndTheRawOneIsTaken) {
  const Checkpoint checkpoint = open_checkpoint(kStateDictFile);
  EXPECT_EQ(checkpoint.state_dict(), "model");
  EXPECT_THAT(checkpoint.other_state_dicts(), testing::ElementsAre("model_ema"));
  EXPECT_EQ(last_bias(checkpoint), 1);
  EXPECT_EQ(checkpoint.metadata().at("epoch"), "3");
  EXPECT_EQ(checkpoint.tensors().size(), 2U);
}

TEST(StateDicts, AnotherCanBeTaken) {
  const Checkpoint averaged = open_checkpoint(kStateDictFile).with_state_dict("model_ema");
  EXPECT_EQ(averaged.state_dict(), "model_ema");
  EXPECT_THAT(averaged.other_state_dicts(), testing::ElementsAre("model"));
  EXPECT_EQ(last_bias(averaged), 2);
  EXPECT_EQ(last_bias(averaged.with_state_dict("model")), 1);
  EXPECT_EQ(last_bias(open_model_file(kStateDictFile, {{{"state_dict", "model_ema"}}, {}})), 2);
  EXPECT_THAT(error_of([&] { (void)averaged.with_state_dict("teacher"); }),
              testing::HasSubstr("expected model_ema, model"));
}

TEST(StateDicts, PrefersTheTeacherToTheStudent) {
  const Checkpoint checkpoint =
      open_checkpoint(source_folder() + "/tests/data/checkpoint/dino.pth");
  EXPECT_EQ(checkpoint.state_dict(), "teacher");
  EXPECT_THAT(checkpoint.other_state_dicts(), testing::ElementsAre("student"));
  EXPECT_EQ(last_bias(checkpoint), 2);
  EXPECT_EQ(last_bias(checkpoint.with_state_dict("student")), 1);
}

/// MMCV and MMEngine save averages under ema_ and the parameter's name with underscores.
TEST(StateDicts, SeparatesAveragedTwinsInOneDictionary) {
  const Checkpoint plain = open_checkpoint(source_folder() + "/tests/data/checkpoint/twins.pth");
  EXPECT_EQ(plain.state_dict(), "state_dict");
  EXPECT_THAT(plain.other_state_dicts(), testing::ElementsAre("state_dict ema_ names"));
  EXPECT_EQ(plain.tensors().size(), 3U);
  EXPECT_EQ(last_bias(plain), 1);
  const Checkpoint averaged = plain.with_state_dict("state_dict ema_ names");
  EXPECT_EQ(averaged.tensors().size(), 3U);
  EXPECT_EQ(last_bias(averaged), 3);
  EXPECT_EQ(averaged.at("module.steps").view().to_int64(), std::vector<std::int64_t>{5});
}

}  // namespace
}  // namespace attnscope
