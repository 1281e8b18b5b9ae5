// Inputs of models.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/input/image.h"
#include "core/input/sound.h"
#include "core/input/text.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// One input, before any model's preprocessing.
struct Input {
  /// The input's data. Image and Sound are preprocessed by the model. A Tensor is a normalised
  /// image [C, H, W], token embeddings [N, D] for an encoder without patch embedding, or the
  /// spectrum [bands, frames] of a sound. Text is for text models.
  std::variant<Image, Tensor, Text, Sound> content;
  std::string label;     ///< display name: file name, or "DATASET[17]"
  std::string locator;   ///< argument of open_input that opens it again
  int class_index = -1;  ///< true class if the data set has labels, else -1
};

/// Opens an image, a sound (WAV), a .npy array (token ids if integer), a text file (.txt, .md), a
/// literal text ("text:To be, or not"), a message to an assistant ("chat:Who are you?"), a pair of
/// texts ("pair:Who is there? ||| Nay, answer me."), pictures and a text about them ("ask:photo.png
/// ||| What is on the table?", "ask:before.png+after.png ||| What changed?"), token ids
/// ("ids:1,2,3"), or an item of a data set ("PATH#INDEX"; see data_set.h). Throws Error listing the
/// kinds of input.
[[nodiscard]] Input open_input(const std::string& locator);

/// The locator of a pair of texts. open_input refuses it if it cannot be split into the two texts.
[[nodiscard]] std::string pair_locator(std::string_view first, std::string_view second);

/// The locator of a text about pictures, which are given by their own locators with + between them.
[[nodiscard]] std::string question_locator(std::string_view pictures, std::string_view text);
/// The pictures' locators and the text of "ask:PICTURES ||| TEXT"; empty for other locators. Throws
/// Error(usage) if one of them is missing.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> parts_of_question(
    std::string_view locator);
/// The locators of the pictures "before.png+after.png": the parts between +, without the spaces
/// around them; the locator itself if it has no +, or is that of a file with one in its name.
[[nodiscard]] std::vector<std::string> picture_locators(std::string_view pictures);
/// The locator of pictures that are given by their own: "before.png+after.png".
[[nodiscard]] std::string pictures_locator(const std::vector<std::string>& pictures);

/// True if the locator contains the input itself ("text:To be", "ids:1,2") and is not a path.
[[nodiscard]] bool is_written_out(std::string_view locator);

}  // namespace attnscope
