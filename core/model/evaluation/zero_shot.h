// Images judged by what texts say of the classes: CLIP's or SigLIP's two towers as one model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

struct ClassPrompt {
  std::string label;  ///< of the class: "cat"
  Text text;          ///< what is said of its images: "a photo of a cat"
};

/// The image tower `images` with a head made of texts: its logits are the cosines between an
/// image's embedding and those that the text tower gives the prompts (Radford et al. 2021, § 3.1.4,
/// before the temperature, and SigLIP's bias and sigmoid: none of them changes an order). All else
/// is the image tower's. Throws
/// Error(usage) without prompts, or where the towers do not embed into one space; what running a
/// prompt throws.
[[nodiscard]] std::shared_ptr<const Model> zero_shot_model(std::shared_ptr<const Model> images,
                                                           const Model& texts,
                                                           const std::vector<ClassPrompt>& prompts,
                                                           const Progress& progress = {});

}  // namespace attnscope
