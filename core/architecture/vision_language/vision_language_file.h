// Files of models that read a picture and a text: an image tower, a connector, which brings the
// tower's patches to the width of the text's tokens, and a language model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/architecture/layer_spec.h"
#include "core/architecture/model_options.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// How the tower's patches become tokens of the text.
struct ConnectorSpec {
  /// Side of the square of patches that become one token, whose channels are those of the patches
  /// in row-major order (pixel shuffle).
  std::int64_t merge = 1;
  /// Names of one linear layer, or of two with the activation between them.
  std::vector<std::string> layers;
  Activation activation = Activation::gelu;
};

/// Texts around the tokens of a picture that is cut into tiles (Idefics 3).
struct TileMarks {
  std::string around;  ///< before each tile, and around the whole picture
  std::string tile;    ///< before a tile, with {row} and {column}, which count from 1
  std::string whole;   ///< before the whole picture
};

/// The parts of such a file. Each part has the names that it has in a file of its own.
struct VisionLanguageFile {
  std::string name;  ///< "LLaVA"
  Checkpoint tower, language, connector;
  std::string connector_prefix;  ///< prefix of the connector's names in the file
  std::filesystem::path config;  ///< config.json
  ConnectorSpec connection;
  /// Layer of the tower whose output is read: −1 is the last, −2 the one before.
  std::int64_t feature_layer = -2;
  bool final_norm = false;              ///< true: the tower's last norm follows that layer
  bool keeps_prefix = false;            ///< true: class tokens are read, too
  std::int64_t image_token = 0;         ///< id of the token that stands for the picture
  std::optional<TileMarks> marks = {};  ///< empty: nothing stands around the picture
  /// Text around a question, with {text} in its place; empty if no file gives it.
  std::string prompt;
  /// Patterns of tensors that the user excludes, with the number of these.
  std::vector<std::pair<std::string, std::int64_t>> excluded = {};
};

/// The parts of `checkpoint` if its config.json is that of a model of pictures and texts (LLaVA,
/// Idefics 3, SmolVLM);
/// empty for other files. Throws Error(unsupported) for tensors that belong to no part and are not
/// ignored, and for settings that are not supported.
[[nodiscard]] std::optional<VisionLanguageFile> vision_language_file(const Checkpoint& checkpoint,
                                                                     const ModelOptions& options);

/// The part that the user asks for by the kind of its input: the image tower (input.kind=patches)
/// or the language model (tokens). Null: all parts together.
[[nodiscard]] const Checkpoint* one_part(const VisionLanguageFile& file,
                                         const ModelOptions& options);

/// `options` for the image tower, or for the language model.
[[nodiscard]] ModelOptions options_of_tower(const ModelOptions& options);
[[nodiscard]] ModelOptions options_of_language(const ModelOptions& options);

}  // namespace attnscope
