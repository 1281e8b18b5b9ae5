// Fuzzes the reader of traces: HDF5, and arrays of NumPy and torch.save.
#include <cstdlib>
#include <vector>

#include "core/error.h"
#include "core/trace/trace_file.h"
#include "tests/fuzz/fuzzed_file.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  attnscope::children_find_nothing();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::filesystem::path file = attnscope::fuzzed_file({data, size});
    if (!attnscope::is_trace_file(file)) return 0;
    const attnscope::Trace trace = attnscope::read_trace(file);
    for (const attnscope::LayerTrace& layer : trace.layers) {
      const attnscope::ImpliedMaps& maps = layer.implied_map;
      if (maps.are_computed() && maps.extent(0) > 0 && maps.extent(1) > 0) {
        std::vector<float> row(static_cast<std::size_t>(maps.extent(2)));
        maps.row(0, 0, 0, row);
      }
      if (layer.exact_map &&
          std::ssize(*layer.exact_map) != std::ssize(layer.implied_map.entries()))
        std::abort();
    }
  } catch (const attnscope::Error&) {
  }
  return 0;
}
