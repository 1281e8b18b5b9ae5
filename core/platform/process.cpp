#include "core/platform/process.h"

#include <dlfcn.h>
#include <fstream>
#include <sys/resource.h>
#include <system_error>
#include <tbb/task_scheduler_observer.h>
#include <unistd.h>
#include <utility>

#include "core/error.h"

namespace attnscope {

std::filesystem::path program_file() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);  // empty if it is not there
}

void restart_program(char** arguments) { ::execv("/proc/self/exe", arguments); }

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

void lower_thread_priority([[maybe_unused]] int nice) {
#ifdef __linux__
  (void)::setpriority(PRIO_PROCESS, 0, nice);
#endif
}

void lower_worker_priority(int nice) {
  class Lowering : public tbb::task_scheduler_observer {
   public:
    explicit Lowering(int nice) : nice_(nice) { observe(true); }
    ~Lowering() override { observe(false); }
    void on_scheduler_entry(bool is_worker) override {
      static thread_local bool lowered = false;
      if (is_worker && !std::exchange(lowered, true)) lower_thread_priority(nice_);
    }

   private:
    int nice_;
  };
  static const Lowering lowering(nice);
}

void* load_function(const std::filesystem::path& file, const char* name,
                    const std::string& refusal) {
  // RTLD_GLOBAL lets Open MPI's own plug-ins find its symbols.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const function = library == nullptr ? nullptr : ::dlsym(library, name);
  if (function != nullptr) return function;
  const char* const reason = ::dlerror();
  throw Error(ErrorKind::unsupported, refusal)
      .in_file(file)
      .found(reason != nullptr ? reason : std::string(name) + " is null");
}

}  // namespace attnscope
