// Names of well-known data sets' classes, and the option that refers to them.
#include "core/architecture/class_names.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "core/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ClassNames, NameEachClassOnce) {
  std::map<std::string, std::size_t> sizes;
  for (const ClassNameList& list : class_name_lists()) {
    const std::vector<std::string> names = class_names_of(list.data_set);
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size()) << list.data_set;
    sizes[std::string(list.data_set)] = names.size();
  }
  const std::map<std::string, std::size_t> expected = {{"CIFAR-10", 10},
                                                       {"CIFAR-100", 100},
                                                       {"Fashion-MNIST", 10},
                                                       {"ImageNet-1k", 1000},
                                                       {"MNIST", 10}};
  EXPECT_EQ(sizes, expected);
}

TEST(ClassNames, AreInTheOrderOfTheLabels) {
  EXPECT_THAT(class_names_of("cifar-10"),
              ElementsAre("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                          "ship", "truck"));
  const std::vector<std::string> fine = class_names_of("CIFAR-100");
  EXPECT_TRUE(std::is_sorted(fine.begin(), fine.end())) << "its file batches.meta sorts them";
  EXPECT_EQ(fine[1], "aquarium fish");
  EXPECT_EQ(fine[58], "pickup truck");
  EXPECT_EQ(class_names_of("mnist")[7], "7");
  EXPECT_EQ(class_names_of("Fashion-MNIST")[9], "Ankle boot");
  EXPECT_THAT(class_names_of("SVHN"), IsEmpty());
}

TEST(ClassNames, AreReadFromAFileWithANameALine) {
  const TemporaryFolder folder;
  const std::string file = folder.write("batches.meta.txt", "cat\r\ndog\nsea lion\n\n").string();
  EXPECT_THAT(names_referred_to("@" + file), ElementsAre("cat", "dog", "sea lion"));
  EXPECT_THAT(names_referred_to("Fashion-mnist"), testing::SizeIs(10));
  EXPECT_THAT(names_referred_to("cat,dog"), IsEmpty()) << "the names themselves";
  EXPECT_THROW((void)names_referred_to("@" + file + "x"), Error);
  const std::string empty = folder.write("empty.txt", "\n").string();
  EXPECT_THAT(error_of([&] { (void)names_referred_to("@" + empty); }), HasSubstr("empty.txt"));
}

TEST(ClassNames, AreThoseOfTheFoldersOfADataSet) {
  const TemporaryFolder folder;
  for (const char* name : {"b", "B", "a"}) std::filesystem::create_directory(folder / name);
  (void)folder.write("notes.txt", "x");
  EXPECT_THAT(names_referred_to("@" + folder.path().string()), ElementsAre("B", "a", "b"));
  EXPECT_THROW((void)names_referred_to("@" + (folder / "a").string()), Error) << "it is empty";
}

}  // namespace
}  // namespace attnscope
