#include <cstdlib>

#include "core/error.h"
#include "core/input/image.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const attnscope::Image image = attnscope::read_image(attnscope::fuzzed_file({data, size}));
    if (static_cast<std::int64_t>(image.pixels.size()) !=
        image.width * image.height * image.channels) {
      std::abort();
    }
  } catch (const attnscope::Error&) {
  }
  return 0;
}
