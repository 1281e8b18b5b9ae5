#include "core/model/weight_extents.h"

#include "core/model/causal_lm.h"
#include "core/model/pyramid_vit.h"
#include "core/model/text_classifier.h"
#include "core/model/vit.h"

namespace attnscope {

WeightExtents weight_extents(const Model& model) {
  if (const auto* vit = dynamic_cast<const Vit*>(&model)) return vit->extents();
  if (const auto* pyramid = dynamic_cast<const PyramidVit*>(&model)) return pyramid->extents();
  if (const auto* language = dynamic_cast<const CausalLm*>(&model)) return language->extents();
  if (const auto* texts = dynamic_cast<const TextClassifier*>(&model)) return texts->extents();
  return {};
}

}  // namespace attnscope
