#include "app/cli/interruption.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <unistd.h>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// Signal handlers may do very little: this one writes to a pipe, which a thread reads.
volatile sig_atomic_t wake_up = -1;
// The previous actions of the signals, restored at the first signal.
std::array<struct sigaction, kSignals.size()> done_before{};

void handle(int signal) {
  const int reason = errno;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) ::sigaction(signal, &done_before[i], nullptr);
  }
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_up, &byte, 1);
  errno = reason;
}

}  // namespace

struct Interruption::Watch {
  std::stop_source stop;
  std::array<int, 2> pipe{-1, -1};
  std::thread thread;
};

Interruption::Interruption() : watch_(std::make_unique<Watch>()) {
  if (::pipe(watch_->pipe.data()) != 0) {
    throw Error(ErrorKind::io, "no pipe could be opened").found(std::strerror(errno));
  }
  wake_up = watch_->pipe[1];
  watch_->thread = std::thread([watch = watch_.get()] {
    char byte = 0;
    ssize_t count = 0;
    do {
      count = ::read(watch->pipe[0], &byte, 1);
    } while (count < 0 && errno == EINTR);
    if (count == 1 && byte == 1) watch->stop.request_stop();
  });
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &done_before[i]);
    // Under nohup, SIGHUP is ignored and the work continues.
    if (kSignals[i] == SIGHUP && done_before[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &done_before[i], nullptr);
  }
  ::close(watch_->pipe[1]);  // ends the thread's read
  watch_->thread.join();
  ::close(watch_->pipe[0]);
}

std::stop_token Interruption::token() const { return watch_->stop.get_token(); }

}  // namespace attnscope
