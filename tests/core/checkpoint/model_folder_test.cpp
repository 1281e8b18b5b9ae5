#include "core/checkpoint/model_folder.h"

#include <fstream>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "tests/support/model_shapes.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string folder_refusal(const std::filesystem::path& folder) {
  try {
    return weight_file_in(folder).filename().string();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ModelFolder, OpensLikeItsWeightFile) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_model_folder(folder.path()));
  EXPECT_NE(folder_refusal(folder.path()).find("no weight file"), std::string::npos);
  write_hashed_safetensors(folder / "my-model.safetensors", timm_shapes({}));
  EXPECT_EQ(folder_refusal(folder.path()), "my-model.safetensors");
  EXPECT_EQ(open_checkpoint(folder.path()).path(), folder / "my-model.safetensors");
  write_hashed_safetensors(folder / "other.safetensors", timm_shapes({}));
  EXPECT_NE(folder_refusal(folder.path()).find("my-model.safetensors, other.safetensors"),
            std::string::npos);
  (void)folder.write("pytorch_model.bin", "");
  EXPECT_EQ(folder_refusal(folder.path()), "pytorch_model.bin");
  write_hashed_safetensors(folder / "model.safetensors", timm_shapes({}));
  EXPECT_EQ(folder_refusal(folder.path()), "model.safetensors");
  EXPECT_TRUE(is_model_folder(folder.path()));
  EXPECT_FALSE(is_model_folder(folder / "model.safetensors"));
}

TEST(ModelFolder, KnowsTheNamesOfOtherLibraries) {
  for (const char* name : {"open_clip_model.safetensors", "open_clip_pytorch_model.bin",
                           "consolidated.00.pth", "flax_model.msgpack", "tf_model.h5"}) {
    const TemporaryFolder folder;
    (void)folder.write("params.json", "{}");
    (void)folder.write("other.bin", "");
    (void)folder.write(name, "");
    EXPECT_EQ(folder_refusal(folder.path()), name);
    EXPECT_TRUE(is_model_folder(folder.path()));
    (void)folder.write("consolidated.01.pth", "");
    if (std::string(name) == "consolidated.00.pth") {
      EXPECT_NE(folder_refusal(folder.path()).find("split into shards"), std::string::npos);
    }
  }
}

TEST(ModelFolder, OpensASplitModelByItsFirstPart) {
  const TemporaryFolder folder;
  (void)folder.write("m-00002-of-00002.gguf", "");
  (void)folder.write("m-00001-of-00002.gguf", "");
  EXPECT_EQ(folder_refusal(folder.path()), "m-00001-of-00002.gguf");
  const TemporaryFolder whole;
  (void)whole.write("mixture-of-experts.gguf", "");
  EXPECT_EQ(folder_refusal(whole.path()), "mixture-of-experts.gguf");
  EXPECT_TRUE(is_model_folder(folder.path()));
  (void)folder.write("mmproj.gguf", "");
  EXPECT_NE(folder_refusal(folder.path()).find("several weight files"), std::string::npos);
}

TEST(ModelFolder, IgnoresOtherFilesOfATrainingRun) {
  const TemporaryFolder folder;
  for (const char* name : {"optimizer.pt", "scheduler.pt", "training_args.bin", "mine.pt"}) {
    (void)folder.write(name, "");
  }
  EXPECT_EQ(folder_refusal(folder.path()), "mine.pt");
}

TEST(ModelFolder, ListsTheCheckpointsOfATrainingRun) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "checkpoint-500");
  (void)folder.write("checkpoint-500/model.safetensors", "");
  EXPECT_EQ(folder_refusal(folder.path()), "model.safetensors");
  std::filesystem::create_directory(folder / "checkpoint-1000");
  (void)folder.write("checkpoint-1000/model.safetensors", "");
  EXPECT_NE(folder_refusal(folder.path()).find("checkpoint-500, checkpoint-1000"),
            std::string::npos);
}

}  // namespace
}  // namespace attnscope
