#include "core/platform/limited_child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "core/error.h"
#include "core/platform/process_memory.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace attnscope {

namespace {

// Memory is not limited under sanitizers, which map terabytes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsLimited = false;
#elif defined(__clang__)
constexpr bool kMemoryIsLimited =
    // NOLINTNEXTLINE(misc-redundant-expression): with neither, both are 1
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kMemoryIsLimited = true;
#endif

// ---- the child ----

/// `resource` has a type of its own in glibc and is an int elsewhere.
void limit(auto resource, std::uint64_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

/// Isolates the child from the terminal and the program's signal handlers, and sets its limits.
/// `present`: size of the address space in use, in bytes.
void withdraw(const ChildLimits& limits, const std::optional<std::int64_t>& present) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // elsewhere the limit of processor time ends an orphan
  ::prctl(PR_SET_DUMPABLE, 0);         // no core dump, not even to a program that collects them
#else
  limit(RLIMIT_CORE, 0);
#endif
  for (const int fatal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGXCPU}) {
    ::signal(fatal, SIG_DFL);
  }
  // The program handles Ctrl-C, not the child.
  for (const int outside : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(outside, SIG_IGN);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(limits.time).count();
  limit(RLIMIT_CPU, static_cast<std::uint64_t>(seconds) + 1);
  if (kMemoryIsLimited && present) {
    limit(RLIMIT_AS, static_cast<std::uint64_t>(*present) + limits.memory);
  }
}

[[noreturn]] void be_child(int pipe, const std::function<std::string()>& work,
                           const ChildLimits& limits,
                           const std::optional<std::int64_t>& present) noexcept {
  withdraw(limits, present);
  const std::string answer = work();
  for (std::string_view rest = answer; !rest.empty();) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(2);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::_exit(0);
}

// ---- the program ----

Error not_started() {
  return Error(ErrorKind::io,
               std::string("no child process can be started to read it: ") + std::strerror(errno))
      .remedy("end other programs");
}

using Clock = std::chrono::steady_clock;

/// Waits until the pipe has data or is closed. False if `end` passes first.
bool wait_until(Clock::time_point end, int pipe) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<long>(left, 1 << 30)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/// Reads the pipe until the child closes it.
LimitedChild::Answer gather(int pipe, const ChildLimits& limits) {
  const Clock::time_point end = Clock::now() + limits.time;
  LimitedChild::Answer answer;
  std::array<char, 1 << 16> some;
  while (true) {
    if (!wait_until(end, pipe)) {
      answer.failure = "no answer within " + std::to_string(limits.time.count()) + " ms";
      return answer;
    }
    const ssize_t count = ::read(pipe, some.data(), some.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return answer;
    answer.text.append(some.data(), static_cast<std::size_t>(count));
    if (answer.text.size() > limits.answer) {
      answer.failure = "more than " + std::to_string(limits.answer) + " bytes of answer";
      return answer;
    }
  }
}

/// Empty if the child ended well.
std::string failure_in(int status) {
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigdescr_np(WTERMSIG(status));
    return std::string("it crashed: ") + (name != nullptr ? name : "unknown signal");
  }
  const int code = WEXITSTATUS(status);
  return code == 0 ? std::string() : "it ended with status " + std::to_string(code);
}

}  // namespace

LimitedChild::LimitedChild(const std::function<std::string()>& work, const ChildLimits& limits)
    : limits_(limits) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw not_started();
  // The pipe must not be one of the standard streams, which the child redirects.
  const int writing = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
  ::close(ends[1]);
  pipe_ = ends[0];
  const std::optional<std::int64_t> present = address_space_in_use();
  process_ = writing < 0 ? -1 : ::fork();
  if (process_ == 0) be_child(writing, work, limits, present);
  const int reason = errno;
  if (writing >= 0) ::close(writing);
  errno = reason;
  if (process_ < 0) {
    const Error error = not_started();
    ::close(pipe_);
    throw error;
  }
}

LimitedChild::~LimitedChild() {
  ::close(pipe_);
  if (process_ > 0) (void)end();
}

LimitedChild::Answer LimitedChild::answer() {
  Answer answer = gather(pipe_, limits_);
  // A child that has closed its pipe is already exiting, so its end does not change its status.
  const int status = end();
  if (answer.failure.empty()) answer.failure = failure_in(status);
  return answer;
}

int LimitedChild::end() {
  const pid_t process = std::exchange(process_, -1);
  ::kill(process, SIGKILL);
  int status = 0;
  pid_t ended = -1;
  do {
    ended = ::waitpid(process, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended < 0 ? 0 : status;  // if SIGCHLD is ignored, only the answer counts
}

SharedBytes::SharedBytes(std::size_t count) {
  if (count == 0) return;
  void* const memory =
      ::mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(ErrorKind::io, "there is not enough memory")
        .expected(std::to_string(count) + " bytes");
  }
  bytes_ = {static_cast<std::byte*>(memory), count};
}

SharedBytes::~SharedBytes() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace attnscope
