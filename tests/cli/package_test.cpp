// Data of the program for the desktop.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <sys/wait.h>

#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

const std::string kPackage = source_folder() + "/assets/package/";
const std::string kId = "io.github.attnscope.Attnscope";

bool is_installed(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null").c_str()) == 0;
}

TEST(Package, TheDesktopEntryIsValid) {
  if (!is_installed("desktop-file-validate")) GTEST_SKIP() << "desktop-file-utils is missing";
  const std::string check =
      "test -z \"$(desktop-file-validate '" + kPackage + kId + ".desktop' 2>&1)\"";
  EXPECT_EQ(std::system(check.c_str()), 0);
}

TEST(Package, TheAppStreamDataIsValid) {
  if (!is_installed("appstreamcli")) GTEST_SKIP() << "appstream is missing";
  const TemporaryFolder folder;
  const std::string text = std::regex_replace(read_bytes(kPackage + kId + ".metainfo.xml.in"),
                                              std::regex("@PROJECT_VERSION@"), "0.1.0");
  const auto file = folder.write(kId + ".metainfo.xml", text);
  // The project has no page of its own, which newer versions want; older ones do not know the tag.
  const std::string validate = "appstreamcli validate --no-net ",
                    quoted = "'" + file.string() + "'",
                    lenient = "--override=url-homepage-missing=info ";
  const std::string check =
      "(" + validate + quoted + " || " + validate + lenient + quoted + ") >/dev/null";
  EXPECT_EQ(std::system(check.c_str()), 0);
}

TEST(Package, OneIdAndTheSameTypesEverywhere) {
  const std::string entry = read_bytes(kPackage + kId + ".desktop");
  const std::string data = read_bytes(kPackage + kId + ".metainfo.xml.in");
  const std::string types = read_bytes(kPackage + "attnscope-mime.xml");
  EXPECT_THAT(data, testing::HasSubstr("<id>" + kId + "</id>"));
  // The window names the desktop entry that it belongs to.
  EXPECT_THAT(read_bytes(source_folder() + "/app/cli/gui.cpp"),
              testing::HasSubstr("setDesktopFileName(\"" + kId + "\")"));
  for (const std::string type :
       {"application/x-safetensors", "application/x-pytorch", "application/x-numpy-npz"}) {
    EXPECT_THAT(entry, testing::HasSubstr(type + ";"));
    EXPECT_THAT(data, testing::HasSubstr("<mediatype>" + type + "</mediatype>"));
    EXPECT_THAT(types, testing::HasSubstr("type=\"" + type + "\""));
  }
}

}  // namespace
}  // namespace attnscope
