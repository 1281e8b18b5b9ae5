#include "core/platform/openblas.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/error.h"
#include "core/platform/process.h"

// Functions of OpenBLAS and FlexiBLAS that other libraries lack: there their addresses are null.
extern "C" {
[[gnu::weak]] char* openblas_get_config();
[[gnu::weak]] char* openblas_get_corename();
[[gnu::weak]] int openblas_get_num_threads();
[[gnu::weak]] void openblas_set_num_threads(int count);
[[gnu::weak]] void flexiblas_set_num_threads(int count);
}

namespace attnscope {

namespace {

constexpr const char* kChoice = "OPENBLAS_CORETYPE";

/// Sets OPENBLAS_CORETYPE during its lifetime and restores the previous value afterwards.
class StatedKernels {
 public:
  explicit StatedKernels(std::string_view name) {
    if (const char* const before = std::getenv(kChoice)) before_ = before;
    ::setenv(kChoice, std::string(name).c_str(), 1);
  }
  ~StatedKernels() {
    if (before_) {
      ::setenv(kChoice, before_->c_str(), 1);
    } else {
      ::unsetenv(kChoice);
    }
  }
  StatedKernels(const StatedKernels&) = delete;
  StatedKernels& operator=(const StatedKernels&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace

VectorInstructions vector_instructions_here() {
#if defined(__x86_64__)
  // These builtins also check that the operating system saves the registers.
  return {
      .avx = __builtin_cpu_supports("avx") != 0,
      .avx2_and_fma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0,
      .avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512dq") != 0 &&
                __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512cd") != 0};
#else
  return {};
#endif
}

std::string_view better_blas_kernels(std::string_view chosen, const VectorInstructions& here) {
  constexpr std::array<std::string_view, 5> kAvx2 = {"Haswell", "Zen", "Excavator", "SkylakeX",
                                                     "Cooperlake"};
  constexpr std::array<std::string_view, 4> kAvx = {"Sandybridge", "Bulldozer", "Piledriver",
                                                    "Steamroller"};
  const auto is_in = [&](const auto& names) {
    return std::ranges::find(names, chosen) != names.end();
  };
  if (is_in(kAvx2)) return {};
  if (here.avx512) return "SkylakeX";
  if (here.avx2_and_fma) return "Haswell";
  if (here.avx && !is_in(kAvx)) return "Sandybridge";
  return {};
}

std::string openblas_version() {
  if (openblas_get_config == nullptr) return "not used";
  std::istringstream words{std::string(openblas_get_config())};  // "OpenBLAS 0.3.21 NO_AFFINITY …"
  std::string name, version;
  words >> name >> version;
  return version;
}

int blas_threads() { return openblas_get_num_threads == nullptr ? 1 : openblas_get_num_threads(); }

void set_blas_threads(int count) {
  if (openblas_set_num_threads != nullptr) {
    openblas_set_num_threads(count);
  } else if (flexiblas_set_num_threads != nullptr) {
    flexiblas_set_num_threads(count);
  }
}

std::string blas_kernels() {
  return openblas_get_corename == nullptr ? "unknown" : openblas_get_corename();
}

bool use_blas_kernels(std::string_view name) {
  // OpenBLAS's own functions for loading and unloading. They are not in its header and exist only
  // with DYNAMIC_ARCH, hence the look-up at run time.
  using Call = void (*)();
  const auto forget = reinterpret_cast<Call>(::dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
  const auto choose = reinterpret_cast<Call>(::dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
  if (forget == nullptr || choose == nullptr) return false;
  const StatedKernels stated(name);
  forget();
  choose();
  return blas_kernels() == name;
}

void use_better_blas_kernels() {
  if (std::getenv(kChoice) != nullptr) return;
  const std::string_view better = better_blas_kernels(blas_kernels(), vector_instructions_here());
  if (!better.empty()) use_blas_kernels(better);
}

void check_blas_work_space() {
  constexpr std::size_t bytes = 128 << 20;
  thread_local bool is_there = false;
  if (is_there) return;
  void* const space = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) {
    throw Error(ErrorKind::io, "there is not enough memory for matrix products")
        .expected("128 MiB of address space for each thread")
        .remedy("raise the limit of memory (ulimit -v), or give it fewer threads (taskset -c 0)");
  }
  ::munmap(space, bytes);
  is_there = true;
}

void restart_without_blas_threads(char** arguments) {
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  struct rlimit memory {};
  const bool limited = ::getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY;
  if (!limited || std::getenv(kThreads) != nullptr) return;
  ::setenv(kThreads, "1", 1);
  restart_program(arguments);
}

}  // namespace attnscope
