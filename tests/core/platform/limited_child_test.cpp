#include "core/platform/limited_child.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>

namespace attnscope {
namespace {

LimitedChild::Answer answer_of(const std::function<std::string()>& work,
                               const ChildLimits& limits = {}) {
  LimitedChild child(work, limits);
  return child.answer();
}

TEST(LimitedChild, AnswersWhatItsWorkReturns) {
  const LimitedChild::Answer answer = answer_of([] { return std::string("a\0b", 3); });
  EXPECT_EQ(answer.text, std::string("a\0b", 3));
  EXPECT_EQ(answer.failure, "");
}

TEST(LimitedChild, ReportsAnExceptionOfItsWorkAsACrash) {
  const LimitedChild::Answer answer =
      answer_of([]() -> std::string { throw std::runtime_error("odd"); });
  EXPECT_EQ(answer.failure, "it crashed: Aborted");
}

TEST(LimitedChild, ReportsTheLimitThatItReached) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(200);
  const auto sleep = []() -> std::string {
    while (true) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  EXPECT_EQ(answer_of(sleep, limits).failure, "no answer within 200 ms");
  limits = {};
  limits.answer = 1000;
  EXPECT_EQ(answer_of([] { return std::string(2000, 'x'); }, limits).failure,
            "more than 1000 bytes of answer");
}

TEST(LimitedChild, EndsWithItsObject) {
  {
    const LimitedChild child(
        []() -> std::string {
          while (true) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        },
        {});
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace attnscope
