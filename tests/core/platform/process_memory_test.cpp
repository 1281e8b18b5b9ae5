#include "core/platform/process_memory.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <vector>

#include "tests/support/sanitized.h"

namespace attnscope {
namespace {

TEST(PeakMemory, SeesWhatIsTouchedAndFreedAgain) {
  constexpr std::size_t kBytes = 64U << 20U;
  const auto peak = peak_memory_of([] {
    std::vector<char> memory(kBytes);
    std::memset(memory.data(), 1, memory.size());
  });
  if (!peak) GTEST_SKIP() << "this system does not tell";
  if (kSanitized) GTEST_SKIP() << "sanitizers keep memory of their own beside it";
  EXPECT_GT(*peak, static_cast<std::int64_t>(kBytes) * 9 / 10);
  EXPECT_LT(*peak, static_cast<std::int64_t>(kBytes) * 3 / 2);
}

TEST(AddressSpace, GrowsByWhatIsMapped) {
  constexpr std::size_t kBytes = 256U << 20U;
  const auto before = address_space_in_use();
  if (!before) GTEST_SKIP() << "this system does not tell";
  void* const mapped = ::mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const auto after = address_space_in_use();
  ::munmap(mapped, kBytes);
  ASSERT_TRUE(after.has_value());
  EXPECT_NEAR(static_cast<double>(*after - *before), static_cast<double>(kBytes), 8 << 20);
}

}  // namespace
}  // namespace attnscope
