#include "core/checkpoint/hdf5/reading_child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "core/checkpoint/hdf5/answer.h"
#include "core/checkpoint/hdf5/hdf5_library.h"
#include "core/error.h"

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

constexpr std::uint64_t kResult = 0, kError = 1;

Error failed(const std::string& how) {
  return Error(ErrorKind::damaged, "the HDF5 library failed on this file: " + how)
      .remedy("the file is damaged, or too large to be read: fetch it again, or save it again");
}

std::string as_answer(const Error& error) {
  std::string answer;
  put_number(answer, kError);
  put_number(answer, static_cast<std::uint64_t>(error.kind()));
  for (const std::string& part : {error.message(), error.file().string(), error.subject(),
                                  error.expected_text(), error.found_text(), error.remedy_text()}) {
    put_text(answer, part);
  }
  return answer;
}

Error error_in(ByteCursor& answer) {
  const std::uint64_t kind = take_number(answer);
  if (kind > static_cast<std::uint64_t>(ErrorKind::io)) return failed("an unknown error");
  Error error(static_cast<ErrorKind>(kind), take_text(answer));
  error.in_file(take_text(answer));
  error.about(take_text(answer));
  error.expected(take_text(answer));
  error.found(take_text(answer));
  error.remedy(take_text(answer));
  return error;
}

// ---- the child ----

void limit(__rlimit_resource resource, std::uint64_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

/// Size of the process's address space in use, in bytes; empty if unknown.
std::optional<std::uint64_t> present_memory() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 64> text{};
  const ssize_t length = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  if (length <= 0) return std::nullopt;
  return std::strtoull(text.data(), nullptr, 10) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Isolates the child from the terminal and the program's signal handlers, and sets its limits.
void withdraw(const ReadingLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int fatal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGXCPU}) {
    ::signal(fatal, SIG_DFL);
  }
  // The program handles Ctrl-C, not the child.
  for (const int outside : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(outside, SIG_IGN);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  ::prctl(PR_SET_DUMPABLE, 0);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(limits.time).count();
  limit(RLIMIT_CPU, static_cast<std::uint64_t>(seconds) + 1);
  const std::optional<std::uint64_t> present = present_memory();
  if (kMemoryIsLimited && present) limit(RLIMIT_AS, *present + limits.memory);
}

std::string answer_to(const std::function<std::string()>& read) {
  std::string answer;
  try {
    put_number(answer, kResult);
    put_text(answer, read());
    return answer;
  } catch (const Error& error) {
    return as_answer(error);
  } catch (const std::bad_alloc&) {
    return as_answer(failed("it needs more memory than is allowed"));
  } catch (const std::exception& error) {
    return as_answer(failed(error.what()));
  }
}

[[noreturn]] void be_child(int pipe, const std::function<std::string()>& read,
                           const ReadingLimits& limits) {
  withdraw(limits);
  const std::string answer = answer_to(read);
  for (std::string_view rest = answer; !rest.empty();) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(2);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::_exit(0);
}

// ---- the program ----

/// A child process that is always ended and waited for.
class Child {
 public:
  Child(const std::function<std::string()>& read, const ReadingLimits& limits) {
    const QuietHdf5 alone;  // no thread is in the library, no other child inherits the pipe
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw not_started();
    // The pipe must not be one of the standard streams, which the child redirects.
    const int writing = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
    ::close(ends[1]);
    pipe_ = ends[0];
    process_ = writing < 0 ? -1 : ::fork();
    if (process_ == 0) be_child(writing, read, limits);
    const int reason = errno;
    if (writing >= 0) ::close(writing);
    errno = reason;
    if (process_ < 0) {
      const Error error = not_started();
      ::close(pipe_);
      throw error;
    }
  }
  ~Child() {
    ::close(pipe_);
    if (process_ > 0) (void)end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] int pipe() const { return pipe_; }

  /// Ends the child and returns its status from waitpid. A child that has closed its pipe is
  /// already exiting, so the signal does not change its status.
  int end() {
    const pid_t process = std::exchange(process_, -1);
    ::kill(process, SIGKILL);
    int status = 0;
    pid_t ended = -1;
    do {
      ended = ::waitpid(process, &status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended < 0 ? 0 : status;  // if SIGCHLD is ignored, only the answer counts
  }

 private:
  static Error not_started() {
    return Error(ErrorKind::io,
                 std::string("no process can be started to read it: ") + std::strerror(errno))
        .remedy("end other programs");
  }

  int pipe_ = -1;
  pid_t process_ = -1;
};

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

std::string gather(int pipe, const ReadingLimits& limits) {
  const Clock::time_point end = Clock::now() + limits.time;
  std::string answer;
  std::array<char, 1 << 16> some;
  while (true) {
    if (!wait_until(end, pipe)) {
      throw failed("no answer within " + std::to_string(limits.time.count()) + " ms");
    }
    const ssize_t count = ::read(pipe, some.data(), some.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return answer;
    answer.append(some.data(), static_cast<std::size_t>(count));
    if (answer.size() > limits.answer) {
      throw failed("more than " + std::to_string(limits.answer) + " bytes of names and attributes");
    }
  }
}

void check_end(int status) {
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigdescr_np(WTERMSIG(status));
    throw failed(std::string("it crashed: ") + (name != nullptr ? name : "unknown signal"));
  }
  if (WEXITSTATUS(status) != 0) {
    throw failed("it ended with status " + std::to_string(WEXITSTATUS(status)));
  }
}

}  // namespace

std::string read_in_child(const std::function<std::string()>& read, const ReadingLimits& limits) {
  Child child(read, limits);
  const std::string bytes = gather(child.pipe(), limits);
  check_end(child.end());
  ByteCursor answer(std::as_bytes(std::span(bytes)));
  const std::uint64_t sort = take_number(answer);
  if (sort == kError) throw error_in(answer);
  if (sort != kResult) throw failed("an unknown answer");
  return take_text(answer);
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
