#include "core/architecture/deduction/spec_deduction.h"

#include "core/architecture/deduction/pyramid_deduction.h"
#include "core/architecture/deduction/sound_deduction.h"
#include "core/architecture/deduction/text_deduction.h"
#include "core/architecture/deduction/vit_deduction.h"

namespace attnscope {

Architecture deduce_architecture(const DeductionInput& input) {
  const ModelSpec& described = input.match.description->spec;
  if (described.reads_texts()) return deduce_text_model(input);
  if (described.is_audio()) return deduce_sound_model(input);
  if (described.is_pyramid()) return deduce_pyramid(input);
  return ViTDeduction(input).deduce();
}

}  // namespace attnscope
