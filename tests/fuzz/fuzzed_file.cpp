#include "tests/fuzz/fuzzed_file.h"

#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"

namespace attnscope {

namespace {

void write_to(int file, std::span<const std::uint8_t> bytes) {
  if (file < 0 || ftruncate(file, 0) != 0 ||
      pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
}

}  // namespace

std::filesystem::path fuzzed_file(std::span<const std::uint8_t> bytes) {
  static const int file = memfd_create("fuzzed", 0);
  write_to(file, bytes);
  return "/proc/self/fd/" + std::to_string(file);
}

void children_find_nothing() {
  ::pthread_atfork(nullptr, nullptr, [] {
    __sanitizer_set_death_callback(nullptr);
    if (::chdir("/proc") != 0) ::_exit(3);  // no file can be created there
  });
}

void read_all(Checkpoint (*open)(const std::filesystem::path&), const std::filesystem::path& file) {
  constexpr std::int64_t largest = 4 << 20;
  try {
    const Checkpoint checkpoint = open(file);
    for (const StoredTensor& tensor : checkpoint.tensors()) {
      if (tensor.bytes > largest) continue;
      try {
        const TensorView view = tensor.view();
        if (view.to_float().size() != element_count(tensor.shape)) std::abort();
        (void)view.count_non_finite();
      } catch (const Error&) {  // other tensors' data may still be valid
      }
    }
    (void)checkpoint.nearest_names("blocks.0.attn.qkv.weight");
  } catch (const Error&) {
  }
}

}  // namespace attnscope
