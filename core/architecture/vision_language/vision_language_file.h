// Files of models that read a picture and a text: an image tower, a connector, which brings the
// tower's patches to the width of the text's tokens, and a language model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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
  /// in row-major order (pixel shuffle), or their means.
  std::int64_t merge = 1;
  bool means = false;
  /// Name of the norm of each patch, or with `norm_of_squares` of each square; empty: none.
  std::string norm;
  bool norm_of_squares = false;
  NormSpec norm_spec;
  /// Names of one linear layer, or of two with the activation between them. A name without
  /// ".weight" has a tensor of this very name, [in, out], if there is one.
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
  /// Names in the file of the tensors of the tower and the language model, by their own names.
  std::map<std::string, std::string> tower_names, language_names;
  std::string connector_prefix;  ///< prefix of the connector's names in the file
  std::filesystem::path config;  ///< config.json
  ConnectorSpec connection;
  /// Layers of the tower, from 0, whose patches, each brought to the text's width in its own way,
  /// are added to the picture's tokens after the language model's first layers (Qwen3-VL).
  std::vector<std::pair<std::int64_t, ConnectorSpec>> deeper = {};
  /// Layer of the tower whose output is read: −1 is the last, −2 the one before.
  std::int64_t feature_layer = -2;
  bool final_norm = false;              ///< true: the tower's last norm follows that layer
  bool keeps_prefix = false;            ///< true: class tokens are read, too
  std::int64_t image_token = 0;         ///< id of the token that stands for the picture
  std::optional<TileMarks> marks = {};  ///< empty: no tiles with marks
  /// Heights and widths, of which a picture fills one with tiles, which are read after the whole
  /// without the border; empty: none (LLaVA-NeXT).
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes = {};
  std::string row_end = {};  ///< with `sizes`: name of the vector after each row of patches
  /// Ids of tokens before and after those of the picture, with blank lines around; the first has
  /// the picture's place in a text that a user writes (Gemma 3).
  std::optional<std::pair<std::int64_t, std::int64_t>> around = {};
  /// Ids of the tokens around `image_token` in the model's prompts; empty: none (Qwen2-VL).
  std::optional<std::pair<std::int64_t, std::int64_t>> ends = {};
  /// Text around a question, with {text} in its place; empty if no file gives it.
  std::string prompt;
  /// Patterns of tensors that the user excludes, with the number of these.
  std::vector<std::pair<std::string, std::int64_t>> excluded = {};
};

/// The parts of `checkpoint` if its config.json is that of a model of pictures and texts (LLaVA,
/// LLaVA-NeXT, Idefics 3, SmolVLM, Qwen2-VL and its successors, Gemma 3); empty for other files.
/// Throws Error(unsupported) for tensors that belong to no part and are not ignored, and for
/// settings that are not supported.
[[nodiscard]] std::optional<VisionLanguageFile> vision_language_file(const Checkpoint& checkpoint,
                                                                     const ModelOptions& options);

/// The part that the user asks for by the kind of its input: the image tower (input.kind=patches)
/// or the language model (tokens). Null: all parts together.
[[nodiscard]] const Checkpoint* one_part(const VisionLanguageFile& file,
                                         const ModelOptions& options);

/// `options` for the image tower, for the language model, or for one part alone. Tensors that the
/// user excludes belong to no part.
[[nodiscard]] ModelOptions options_of_tower(const ModelOptions& options);
[[nodiscard]] ModelOptions options_of_language(const ModelOptions& options);
[[nodiscard]] ModelOptions options_of_one_part(const ModelOptions& options);

}  // namespace attnscope
