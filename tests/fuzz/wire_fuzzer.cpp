// Fuzzes the reader of frames, in pieces of the length that the first byte gives, and of their
// traces.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/error.h"
#include "core/wire/frame.h"
#include "core/wire/shown_trace.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::max<std::size_t>(data[0], 1);
  std::span<const std::uint8_t> rest = std::span(data, size).subspan(1);
  attnscope::FrameReader reader({.arrays = std::uint64_t{4} << 20});
  try {
    while (!rest.empty()) {
      const std::span<std::byte> into = reader.wanted();
      if (into.empty()) std::abort();
      const std::size_t count = std::min({piece, into.size(), rest.size()});
      std::memcpy(into.data(), rest.data(), count);
      rest = rest.subspan(count);
      if (!reader.advance(count)) continue;
      const attnscope::Frame frame = reader.take();
      for (const attnscope::StoredTensor& array : frame.arrays) (void)array.view().to_double();
      try {
        (void)attnscope::shown_trace(frame);
      } catch (const attnscope::Error&) {
      }
    }
  } catch (const attnscope::Error&) {
  }
  return 0;
}
