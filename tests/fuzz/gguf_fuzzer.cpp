#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/key_values.h"
#include "core/error.h"
#include "tests/fuzz/fuzzed_file.h"

namespace {

/// Reads every value as every type: most have a different type, which may only be an Error.
void ask_all(const attnscope::KeyValues& values) {
  const auto ask = [](auto&& question) {
    try {
      (void)question();
    } catch (const attnscope::Error&) {
    }
  };
  for (const std::string& key : values.keys()) {
    ask([&] { return values.text(key); });
    ask([&] { return values.truth(key); });
    ask([&] { return values.whole(key); });
    ask([&] { return values.number(key); });
    ask([&] { return values.texts(key); });
    ask([&] { return values.wholes(key); });
    ask([&] { return values.numbers(key); });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  attnscope::read_all(attnscope::open_gguf, attnscope::fuzzed_file({data, size}));
  try {
    const attnscope::Checkpoint file = attnscope::open_gguf(attnscope::fuzzed_file({data, size}));
    ask_all(*file.key_values());
  } catch (const attnscope::Error&) {
  }
  return 0;
}
