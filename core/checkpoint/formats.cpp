#include "core/checkpoint/format.h"

namespace attnscope {

std::span<const CheckpointFormat> checkpoint_formats() { return {}; }

}  // namespace attnscope
