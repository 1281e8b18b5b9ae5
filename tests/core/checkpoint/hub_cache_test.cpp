#include "core/checkpoint/hub_cache.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A cache of the hub's layout in a temporary folder, which is also the working folder.
class HubCache : public testing::Test {
 protected:
  HubCache() : before_(fs::current_path()) {
    ::setenv("HF_HUB_CACHE", (folder_ / "hub").c_str(), 1);
    fs::current_path(folder_.path());
  }
  ~HubCache() override {
    fs::current_path(before_);
    ::unsetenv("HF_HUB_CACHE");
  }

  /// Adds a commit of org/name, to which `ref` points unless it is empty.
  fs::path add(const std::string& commit, const std::string& ref) const {
    const fs::path model = folder_ / "hub" / "models--org--small-vit";
    fs::create_directories(model / "snapshots" / commit);
    if (!ref.empty()) {
      fs::create_directories((model / "refs" / ref).parent_path());
      (void)folder_.write("hub/models--org--small-vit/refs/" + ref, commit + "\n");
    }
    return model / "snapshots" / commit;
  }

  static std::string refusal(const std::string& name) {
    try {
      return model_path(name).string();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      return error.what();
    }
  }

  TemporaryFolder folder_;

 private:
  fs::path before_;
};

TEST_F(HubCache, FindsTheMainRevisionByTheNameAlone) {
  const fs::path first = add("1111aaaa", "main");
  (void)add("2222bbbb", "v2");
  EXPECT_EQ(model_path("org/small-vit"), first);
  EXPECT_EQ(hub_model_name(first), "small-vit");
}

TEST_F(HubCache, FindsRevisionsByRefTagAndCommit) {
  (void)add("1111aaaa", "main");
  const fs::path second = add("2222bbbb", "refs/pr/1");
  EXPECT_EQ(model_path("org/small-vit@refs/pr/1"), second);
  EXPECT_EQ(model_path("org/small-vit@2222bbbb"), second);
  EXPECT_EQ(model_path("org/small-vit@2222"), second);
  const std::string refused = refusal("org/small-vit@v3");
  EXPECT_THAT(refused, HasSubstr("expected v3, found 1111aaaa, 2222bbbb"));
  EXPECT_THAT(refused, HasSubstr("hf download org/small-vit --revision v3"));
  EXPECT_THAT(refusal("org/small-vit@../../x"), testing::StrEq("org/small-vit@../../x"));
}

TEST_F(HubCache, TakesTheOnlyCommitWithoutARef) {
  const fs::path only = add("3333cccc", "");
  EXPECT_EQ(model_path("org/small-vit"), only);
  (void)add("4444dddd", "");
  EXPECT_THAT(refusal("org/small-vit"), HasSubstr("expected main"));
}

TEST_F(HubCache, SaysWhatToDownloadWhenAModelIsMissing) {
  const std::string refused = refusal("facebook/deit-tiny-patch16-224");
  EXPECT_THAT(refused, HasSubstr("hf download facebook/deit-tiny-patch16-224"));
  EXPECT_THAT(refused, HasSubstr((folder_ / "hub/models--facebook--deit-tiny").string()));
}

TEST_F(HubCache, LeavesPathsAsTheyAre) {
  (void)add("1111aaaa", "main");
  for (const char* const path : {"vit.safetensors", "/org/small-vit", "./org/small-vit",
                                 "models/vit.safetensors", "a/b/c", "~/model", ""}) {
    EXPECT_EQ(model_path(path), path);
  }
  fs::create_directories("org/small-vit");
  EXPECT_EQ(model_path("org/small-vit"), "org/small-vit") << "a folder wins over the cache";
  EXPECT_EQ(refusal("org/missing"), "org/missing") << "a missing file in a folder that exists";
}

TEST_F(HubCache, LooksWhereTheLibrariesLook) {
  ::unsetenv("HF_HUB_CACHE");
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before ? before : "";
  ::setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(hub_cache(), "/caches/huggingface/hub");
  ::setenv("HF_HOME", "/hf", 1);
  EXPECT_EQ(hub_cache(), "/hf/hub");
  ::unsetenv("HF_HOME");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_THAT(hub_cache().string(), testing::EndsWith(".cache/huggingface/hub"));
  if (before) ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

TEST_F(HubCache, ModelsOfTheCacheOpenUnderTheirOwnName) {
  const fs::path folder = add("1111aaaa", "main");
  // The cache holds links to blobs, whose names have no extension.
  fs::create_directory(folder_ / "blobs");
  fs::copy_file(source_folder() + "/tests/data/sweep/model.npz", folder_ / "blobs/5f5f");
  fs::create_symlink(folder_ / "blobs/5f5f", folder / "model.npz");
  const ModelOptions options{{{"heads", "2"}}, {}};
  EXPECT_EQ(load_model(model_path("org/small-vit"), options)->name(), "small-vit");
}

}  // namespace
}  // namespace attnscope
