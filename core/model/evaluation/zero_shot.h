// Zero-shot image classification with text prompts: the two towers of CLIP or SigLIP as one model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

struct ClassPrompt {
  std::string label;  ///< name of the class, such as "cat"
  Text text;          ///< prompt for its images, such as "a photo of a cat"
};

/// The image tower `images` with a head made of texts: its logits are the cosines between the
/// embedding of an image and the text tower's embeddings of the prompts (Radford et al. 2021, §
/// 3.1.4). The temperature, and SigLIP's bias and sigmoid, are left out because they do not change
/// the order. Everything else is the image tower's. Throws Error(usage) without prompts or if the
/// towers have no shared embedding space, and the errors of running a prompt.
[[nodiscard]] std::shared_ptr<const Model> zero_shot_model(std::shared_ptr<const Model> images,
                                                           const Model& texts,
                                                           const std::vector<ClassPrompt>& prompts,
                                                           const Progress& progress = {});

}  // namespace attnscope
