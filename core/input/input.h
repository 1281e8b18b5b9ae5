// What a model is run on.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "core/input/image.h"
#include "core/input/sound.h"
#include "core/input/text.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// One input, before any model's preprocessing.
struct Input {
  /// Image, Sound: preprocessed by the model. Tensor: [C, H, W] taken as already normalised, [N, D]
  /// token embeddings for an encoder without patch embedding, or the spectrum [bands, frames] of a
  /// sound. Text: of a language model.
  std::variant<Image, Tensor, Text, Sound> content;
  std::string label;     ///< shown: file name, or "DATASET[17]"
  std::string locator;   ///< opens it again, as open_input takes it
  int class_index = -1;  ///< its true class where a data set says so, else -1
};

/// Opens an image, a sound (WAV), a .npy array (of whole numbers: token ids), a text file (.txt,
/// .md), a text given as such ("text:To be, or not"), a pair of texts ("pair:Who is there? ||| Nay,
/// answer me."), token ids ("ids:1,2,3"), or an item of a data set ("PATH#INDEX"; see data_set.h).
/// Throws Error saying which kinds of input there are.
[[nodiscard]] Input open_input(const std::string& locator);

/// The locator of a pair of texts. What open_input would not take apart again it refuses.
[[nodiscard]] std::string pair_locator(std::string_view first, std::string_view second);

/// Whether the locator is the input, "text:To be" or "ids:1,2", and no file's.
[[nodiscard]] bool is_written_out(std::string_view locator);

}  // namespace attnscope
