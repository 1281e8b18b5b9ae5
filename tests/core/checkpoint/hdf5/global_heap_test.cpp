#include "core/checkpoint/hdf5/global_heap.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "core/error.h"

namespace attnscope {
namespace {

/// One hand-written collection at address 32.
class GlobalHeapTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kAddress = 32;

  template <class Number>
  void put(Number number) {
    const auto* const start = reinterpret_cast<const std::byte*>(&number);
    bytes_.insert(bytes_.end(), start, start + sizeof number);
  }
  void object(std::uint16_t index, const std::string& text, std::uint64_t length) {
    put(index);
    put(std::uint16_t{1});
    put(std::uint32_t{0});
    put(length);
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    while (bytes_.size() % 8 != 0) bytes_.push_back(std::byte{0});
  }
  void begin() {
    bytes_.assign(kAddress, std::byte{0});
    for (const char c : {'G', 'C', 'O', 'L', '\1', '\0', '\0', '\0'}) {
      bytes_.push_back(static_cast<std::byte>(c));
    }
    put(std::uint64_t{0});
  }
  void end(std::int64_t more = 0) {
    const std::uint64_t size = bytes_.size() - kAddress + static_cast<std::uint64_t>(more);
    std::memcpy(bytes_.data() + kAddress + 8, &size, sizeof size);
  }
  [[nodiscard]] std::string text(std::uint32_t length, std::uint32_t index,
                                 std::uint64_t address = kAddress) const {
    GlobalHeap heap(bytes_);
    try {
      return std::string(heap.text({length, address, index}));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::damaged);
      return "refused";
    }
  }

  std::vector<std::byte> bytes_;
};

TEST_F(GlobalHeapTest, ReadsTexts) {
  begin();
  object(1, "hello", 5);
  object(7, "eight by", 8);
  end();
  EXPECT_EQ(text(5, 1), "hello");
  EXPECT_EQ(text(4, 1), "hell");
  EXPECT_EQ(text(8, 7), "eight by");
  EXPECT_EQ(text(0, 9), "");
  EXPECT_EQ(text(3, 1, 0), "");
}

TEST_F(GlobalHeapTest, RefusesTextsLongerThanTheirObject) {
  begin();
  object(1, "hello", 5);
  end();
  EXPECT_EQ(text(6, 1), "refused");
  EXPECT_EQ(text(0xFFFFFFFF, 1), "refused");
}

TEST_F(GlobalHeapTest, RefusesMissingObjects) {
  begin();
  object(1, "hello", 5);
  end();
  EXPECT_EQ(text(1, 2), "refused");
  for (const std::uint64_t address : {std::uint64_t{8}, std::uint64_t{56}, std::uint64_t{57},
                                      std::uint64_t{1} << 63, ~std::uint64_t{1}}) {
    EXPECT_EQ(text(1, 1, address), "refused") << address;
  }
}

TEST_F(GlobalHeapTest, RefusesCollectionsThatDoNotFit) {
  begin();
  object(1, "hello", 5);
  end(1);  // one byte beyond the file
  EXPECT_EQ(text(5, 1), "refused");
  begin();
  object(1, "hello", 1 << 20);  // longer than its collection
  end();
  EXPECT_EQ(text(5, 1), "refused");
  begin();
  object(1, "hello", ~std::uint64_t{0} - 3);
  end();
  EXPECT_EQ(text(5, 1), "refused");
  begin();  // the size stays 0
  object(1, "hello", 5);
  EXPECT_EQ(text(5, 1), "refused");
}

TEST_F(GlobalHeapTest, EndsWithObjectsOfNoSize) {
  begin();
  for (std::uint16_t index = 1; index < 100; ++index) object(index, "", 0);
  object(0, "", 0);  // the rest of the collection is free
  object(200, "never", 5);
  end();
  EXPECT_EQ(text(1, 50), "refused");
  EXPECT_EQ(text(5, 200), "refused");
  begin();
  object(1, "", 0);
  object(1, "", 0);
  end();
  EXPECT_EQ(text(1, 1), "refused");
}

}  // namespace
}  // namespace attnscope
