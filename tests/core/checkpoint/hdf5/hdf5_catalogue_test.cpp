#include "core/checkpoint/hdf5/hdf5_catalogue.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace attnscope {
namespace {

Hdf5Catalogue sample() {
  return {{{"format", "any"}, {"empty", ""}},
          {{"group/mapped", DType::bf16, {3, 4}, 1024}, {"scalar", DType::boolean, {}, {}}},
          {"text"}};
}

TEST(Hdf5Catalogue, SurvivesTheTransferUnchanged) {
  const Hdf5Catalogue read = Hdf5Catalogue::from_bytes(sample().to_bytes());
  EXPECT_EQ(read.attributes, sample().attributes);
  EXPECT_EQ(read.not_numeric, sample().not_numeric);
  ASSERT_EQ(read.data_sets.size(), 2U);
  EXPECT_EQ(read.data_sets[0].name, "group/mapped");
  EXPECT_EQ(read.data_sets[0].dtype, DType::bf16);
  EXPECT_EQ(read.data_sets[0].shape, (Shape{3, 4}));
  EXPECT_EQ(read.data_sets[0].offset, 1024U);
  EXPECT_EQ(read.data_sets[1].dtype, DType::boolean);
  EXPECT_EQ(read.data_sets[1].shape, Shape{});
  EXPECT_FALSE(read.data_sets[1].offset);
}

TEST(Hdf5Catalogue, RefusesDamagedBytes) {
  const std::string whole = sample().to_bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW((void)Hdf5Catalogue::from_bytes(whole.substr(0, length)), Error) << length;
  }
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string broken = whole;
    broken[place] = '\xFF';
    try {
      (void)Hdf5Catalogue::from_bytes(broken);  // names and texts may have any bytes
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::damaged);
    }
  }
}

}  // namespace
}  // namespace attnscope
