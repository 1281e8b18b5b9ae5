// Memory that a stored tensor need not hold between one use and the next.
#pragma once

#include "core/tensor/tensor_view.h"

namespace attnscope {

/// The pages of a mapped file from the first of these elements to the last need no room any more,
/// until they are read again (give_back_pages); nothing happens to elements that lie elsewhere.
void give_back(const TensorView& view);

}  // namespace attnscope
