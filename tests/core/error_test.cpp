// Errors as one line, for the command line and for a window.
#include "core/error.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

Error about_heads(const std::string& remedy) {
  return Error(ErrorKind::usage, "the heads are unknown")
      .in_file("vit.pt")
      .about("heads")
      .expected("a divisor of 192")
      .remedy(remedy);
}

TEST(Error, HasOneLineWithItsParts) {
  EXPECT_STREQ(about_heads("set it: --model-heads N").what(),
               "vit.pt: heads: the heads are unknown (expected a divisor of 192); "
               "set it: --model-heads N");
}

TEST(Error, NamesNoOptionsOfTheCommandLineInAWindow) {
  const std::string start = "vit.pt: heads: the heads are unknown (expected a divisor of 192)";
  EXPECT_EQ(about_heads("set it: --model-heads N").in_window(),
            start + "; set it: the option heads=N");
  EXPECT_EQ(about_heads("--option norm=layer or norm=rms, if you know").in_window(),
            start + "; the option norm=layer or norm=rms, if you know");
  EXPECT_EQ(about_heads("record them: attnscope trace --record qkv").in_window(), start);
  EXPECT_EQ(about_heads("name it: --set file=FILE").in_window(), start);
  EXPECT_EQ(about_heads("made by attnscope 0.1.0 -- or later").in_window(),
            start + "; made by attnscope 0.1.0 -- or later");
  EXPECT_EQ(Error(ErrorKind::usage, "missing").about("--count").expected("N").in_window(),
            "missing (expected N)");
}

}  // namespace
}  // namespace attnscope
