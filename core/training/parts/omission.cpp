#include "core/training/parts/omission.h"

#include <cassert>

namespace attnscope {

void omit(const Omission& omission, std::uint64_t place, std::span<const std::int64_t> lengths,
          Matrix& rows) {
  if (!omission) return;
  assert(omission.examples.size() == lengths.size());
  const auto element = static_cast<float>(1 / (1 - omission.dropout)),
             branch = static_cast<float>(1 / (1 - omission.drop_path));
  float* number = rows.data();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const RandomNumbers own = omission.examples[i].of("omission").of(omission.place + place);
    const std::int64_t count = lengths[i] * rows.cols();
    const bool dropped = own.of("path").uniform(0) < omission.drop_path;
    for (std::int64_t j = 0; j < count; ++j, ++number) {
      if (dropped || own.uniform(static_cast<std::uint64_t>(j)) < omission.dropout) {
        *number = 0;
      } else {
        *number *= element * branch;
      }
    }
  }
}

double drop_path_of_layer(double last, std::int64_t layer, std::int64_t layers) {
  if (layers < 2) return 0;
  return last * static_cast<double>(layer) / static_cast<double>(layers - 1);
}

}  // namespace attnscope
