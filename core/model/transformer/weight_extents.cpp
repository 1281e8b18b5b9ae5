#include "core/model/transformer/weight_extents.h"

#include "core/model/transformer/transformer.h"

namespace attnscope {

WeightExtents weight_extents(const Model& model) {
  const auto* const transformer = dynamic_cast<const Transformer*>(&model);
  return transformer ? transformer->extents() : WeightExtents{};
}

}  // namespace attnscope
