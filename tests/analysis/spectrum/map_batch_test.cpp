#include "analysis/spectrum/map_batch.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <tbb/parallel_for.h>
#include <thread>

namespace attnscope {
namespace {

using Milliseconds = std::chrono::milliseconds;

/// Waits for `flag`, for at most a second: with a single thread nobody sets it.
void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; i < 1000 && !flag; ++i) std::this_thread::sleep_for(Milliseconds(1));
}

TEST(SingleOnes, DoNotDisturbNestedLoopsWhenOneThrows) {
  std::atomic<bool> begun = false, throws = false;
  std::atomic<int> done = 0;
  const auto work = [&](std::size_t i) {
    if (i == 0) {
      wait_for(begun);
      throws = true;
      throw std::runtime_error("one of them");
    }
    begun = true;
    wait_for(throws);
    std::this_thread::sleep_for(Milliseconds(20));
    tbb::parallel_for(0, 64, [&](int) { ++done; });
  };
  EXPECT_THROW(for_single_ones(2, work), std::runtime_error);
  EXPECT_EQ(done, begun ? 64 : 0);
}

}  // namespace
}  // namespace attnscope
