// Common settings of trainings that are small enough for a test.
#pragma once

#include <cstdint>

#include "core/parameters/parameters.h"

namespace attnscope {

/// Two layers of two heads and 12 channels, with batches of 12. `more` adds or replaces settings
/// and must include "dataset" and "steps".
[[nodiscard]] inline ParameterValues small_recipe(ParameterValues more) {
  more.merge(ParameterValues{{"patch", std::int64_t{2}},
                             {"width", std::int64_t{12}},
                             {"model_heads", std::int64_t{2}},
                             {"depth", std::int64_t{2}},
                             {"context", std::int64_t{16}},
                             {"batch", std::int64_t{12}},
                             {"warm_up", std::int64_t{3}},
                             {"checkpoints", std::int64_t{3}},
                             {"probes", std::int64_t{2}}});
  return more;
}

}  // namespace attnscope
