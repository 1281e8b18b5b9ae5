#include "core/checkpoint/model_folder.h"

#include <fstream>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "core/error.h"
#include "tests/support/model_shapes.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

std::string refusal(const std::filesystem::path& folder) {
  try {
    return weight_file_in(folder).filename().string();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ModelFolder, OpensLikeItsWeightFile) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_model_folder(folder.path()));
  EXPECT_NE(refusal(folder.path()).find("no weight file"), std::string::npos);
  write_hashed_safetensors(folder / "my-model.safetensors", timm_shapes({}));
  EXPECT_EQ(refusal(folder.path()), "my-model.safetensors");
  EXPECT_EQ(open_checkpoint(folder.path()).path(), folder / "my-model.safetensors");
  write_hashed_safetensors(folder / "other.safetensors", timm_shapes({}));
  EXPECT_NE(refusal(folder.path()).find("my-model.safetensors, other.safetensors"),
            std::string::npos);
  (void)folder.write("pytorch_model.bin", "");
  EXPECT_EQ(refusal(folder.path()), "pytorch_model.bin");
  write_hashed_safetensors(folder / "model.safetensors", timm_shapes({}));
  EXPECT_EQ(refusal(folder.path()), "model.safetensors");
  EXPECT_TRUE(is_model_folder(folder.path()));
  EXPECT_FALSE(is_model_folder(folder / "model.safetensors"));
}

TEST(ModelFolder, AnAdapterIsNoModel) {
  const TemporaryFolder folder;
  (void)folder.write("adapter_config.json", "{}");
  write_hashed_safetensors(folder / "adapter_model.safetensors", timm_shapes({}));
  EXPECT_NE(refusal(folder.path()).find("merge_and_unload"), std::string::npos);
}

}  // namespace
}  // namespace attnscope
