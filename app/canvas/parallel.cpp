#include "app/canvas/parallel.h"

#undef emit
#include <tbb/parallel_for.h>

namespace attnscope {

void for_each_index(std::int64_t count, const std::function<void(std::int64_t)>& work) {
  tbb::parallel_for(std::int64_t{0}, count, [&work](std::int64_t index) { work(index); });
}

}  // namespace attnscope
