#include "core/platform/file_mapping.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

namespace attnscope {

struct FileMapping::State {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  static State of(const struct stat& status) {
    constexpr std::int64_t second = 1'000'000'000;
    return {status.st_dev, status.st_ino, status.st_size,
            status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
  }
  friend bool operator==(const State&, const State&) = default;
};

/// A mapping for the signal handler. The handler may neither lock nor free, so ranges form
/// a list that only grows, and free ones are reused.
struct FileMapping::Range {
  std::atomic<std::uintptr_t> begin{0};  ///< 0: free
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> cut{false};  ///< a page was missing
  Range* next = nullptr;
};

namespace {

/// All mapped files.
struct Mappings {
  std::mutex mutex;
  std::map<std::uintptr_t, const FileMapping*> by_address;  ///< key: address of the first byte

  static Mappings& all() {
    static auto* const mappings = new Mappings;  // never destroyed: statics may hold mappings
    return *mappings;
  }
};

std::uintptr_t address(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

class FileMapping::Signal {
 public:
  /// Registers `memory`. Requires the mutex of Mappings.
  static Range* take(std::span<const std::byte> memory) {
    static const bool installed = install();
    (void)installed;
    Range* range = first_.load();
    while (range != nullptr && range->begin.load() != 0) range = range->next;
    if (range == nullptr) {
      range = new Range;
      range->next = first_.load();
      first_.store(range);
    }
    range->cut.store(false);
    range->end.store(address(memory.data()) + memory.size());
    range->begin.store(address(memory.data()));
    return range;
  }

 private:
  static bool install() {
    page_ = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = &Signal::handle;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &before_);
    return true;
  }

  /// The signal handler, restricted to atomics and system calls.
  static void handle(int signal, siginfo_t* info, void* context) {
    const int error = errno;
    const std::uintptr_t at = address(info->si_addr);
    for (Range* range = first_.load(); range != nullptr; range = range->next) {
      const std::uintptr_t begin = range->begin.load(), end = range->end.load();
      // Reads `begin` again, because the range may have been released and reused between the loads.
      if (begin == 0 || begin != range->begin.load() || at < begin || at >= end) continue;
      const std::uintptr_t page = at / page_ * page_;
      const std::uintptr_t size = (end - page + page_ - 1) / page_ * page_;
      void* const zeros = ::mmap(reinterpret_cast<void*>(page), size, PROT_READ,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      if (zeros == MAP_FAILED) break;
      range->cut.store(true);
      errno = error;
      return;
    }
    if ((before_.sa_flags & SA_SIGINFO) != 0 && before_.sa_sigaction != nullptr) {
      before_.sa_sigaction(signal, info, context);
      return;
    }
    // Restores the previous handler. The faulting instruction runs again and ends the process.
    ::sigaction(SIGBUS, &before_, nullptr);
    errno = error;
  }

  static inline std::atomic<Range*> first_{nullptr};
  static inline std::uintptr_t page_ = 4096;
  static inline struct sigaction before_ {};
};

FileMapping::FileMapping(int descriptor, const std::filesystem::path& path) {
  const auto refused = [&] {
    return Error(ErrorKind::io, std::string("cannot be read: ") + std::strerror(errno))
        .in_file(path);
  };
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw refused();
  std::error_code unknown;  // without a current folder, the path is unchanged
  file_ = std::filesystem::absolute(path, unknown);
  if (unknown) file_ = path;
  state_ = std::make_unique<const State>(State::of(status));
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapped == MAP_FAILED) throw refused();
  mapped_.bytes = {static_cast<const std::byte*>(mapped), size};
  Mappings& mappings = Mappings::all();
  const std::lock_guard lock(mappings.mutex);
  range_ = Signal::take(bytes());
  mappings.by_address.emplace(address(bytes().data()), this);
}

FileMapping::~FileMapping() {
  if (range_ == nullptr) return;
  Mappings& mappings = Mappings::all();
  const std::lock_guard lock(mappings.mutex);
  mappings.by_address.erase(address(bytes().data()));
  range_->begin.store(0);
}

FileMapping::Mapped::~Mapped() {
  if (!bytes.empty()) ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

void FileMapping::check() const {
  struct stat status {};
  const bool there = ::stat(file_.c_str(), &status) == 0;
  const State now = there ? State::of(status) : *state_;
  const bool replaced = now.device != state_->device || now.inode != state_->inode;
  const bool cut = range_ != nullptr && range_->cut.load();
  if (!cut && (replaced || now == *state_)) return;
  throw Error(ErrorKind::io, "the file changed while it was read")
      .in_file(file_)
      .remedy("open it again when its writer has finished");
}

namespace {

/// The mapping that `at` points into; null if none.
const FileMapping* mapping_at(const void* at) {
  Mappings& mappings = Mappings::all();
  const std::lock_guard lock(mappings.mutex);
  auto after = mappings.by_address.upper_bound(address(at));
  if (after == mappings.by_address.begin()) return nullptr;
  const FileMapping* const found = (--after)->second;
  return found->holds(at) ? found : nullptr;
}

}  // namespace

void check_unchanged(const void* at) {
  const FileMapping* const mapping = mapping_at(at);
  if (mapping != nullptr) mapping->check();
}

void release_pages_of_file(std::span<const std::byte> memory) {
  if (memory.empty()) return;
  const FileMapping* const mapping = mapping_at(memory.data());
  if (mapping == nullptr || !mapping->holds(memory.data() + memory.size())) return;
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (address(memory.data()) + page - 1) / page * page;
  const std::uintptr_t end = address(memory.data() + memory.size()) / page * page;
  if (begin >= end) return;
  // The mapping is read-only and private, so dropped pages equal the file. The call is only advice;
  // a failure is harmless.
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace attnscope
