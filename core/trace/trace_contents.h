// The attributes and arrays of a trace, by their names in trace files (trace_file.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/trace/trace.h"

namespace attnscope {

/// An array of float32, float64, int64 or uint8.
struct TraceArray {
  std::string name;  ///< "layer_00/implied_map"
  DType dtype;
  Shape shape;
  const void* data;                     ///< row-major elements
  std::shared_ptr<const void> storage;  ///< keeps `data` alive; null if the trace does
};

struct TraceContents {
  std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>> attributes;
  std::vector<TraceArray> arrays;
};

/// Arrays show the memory of `trace`, which must outlive them. Maps that are computed on access are
/// left out if they follow from recorded queries and keys; otherwise Error(usage).
[[nodiscard]] TraceContents contents_of(const Trace& trace);

}  // namespace attnscope
