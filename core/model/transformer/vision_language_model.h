// A model of a picture and a text: a language model whose text has the patches of an image tower in
// it (LLaVA: Liu et al. 2023, Improved Baselines with Visual Instruction Tuning; Idefics 3:
// Laurençon et al. 2024).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/vision_language/vision_language_file.h"
#include "core/model/model.h"
#include "core/model/parts/linear.h"
#include "core/model/preprocessing/picture_tiles.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

/// Brings a tower's patches to the width of a text's tokens: first(x), or second(act(first(x))), of
/// squares of patches.
struct ImageConnector {
  Linear first;
  std::optional<Linear> second = {};
  Activation activation = Activation::gelu;
  std::int64_t merge = 1;  ///< side of the squares

  /// Maps [rows · columns, width of the tower] to [rows / merge · columns / merge, width of the
  /// language model]. `merge` must divide rows and columns.
  [[nodiscard]] Tensor operator()(ConstMatrixMap patches, std::int64_t rows,
                                  std::int64_t columns) const;
};

/// Specification, name and file are the language model's, and so are the layers of a trace. Its
/// layout has the picture's grid within the text.
class VisionLanguageModel final : public Model {
 public:
  /// `file` has the settings; its checkpoints are not used.
  VisionLanguageModel(std::shared_ptr<const Transformer> tower,
                      std::shared_ptr<const Transformer> language, ImageConnector connector,
                      const VisionLanguageFile& file);

  [[nodiscard]] const ModelSpec& spec() const override { return language_->spec(); }
  [[nodiscard]] const std::string& name() const override { return language_->name(); }
  [[nodiscard]] const std::filesystem::path& file() const override { return language_->file(); }
  [[nodiscard]] const std::string& architecture() const override { return architecture_; }
  /// The tower's have names that begin with kTowerOption.
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override { return assumptions_; }
  [[nodiscard]] bool reads_pictures() const override { return true; }
  [[nodiscard]] const Transformer& tower() const { return *tower_; }
  [[nodiscard]] const Transformer& language() const { return *language_; }

  /// `input` is a text with a picture, or a text alone. A text without a mark for the picture
  /// ("<image>") is put into the model's prompt. Throws Error(usage) for other inputs, more than
  /// one mark and texts that are too long, and Cancelled.
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;
  /// The tokens that `run` gives to the language model. Throws likewise.
  [[nodiscard]] TokenizedText tokens_of(const Input& input) const;
  /// Runs the tower on the picture of `input`; its tokens are those of `text`, which tokens_of
  /// gave, that stand for the picture. Empty without a picture.
  [[nodiscard]] std::optional<PictureTokens> look_at(const Input& input, const TokenizedText& text,
                                                     const Progress& progress) const;
  /// The whole text of a question, with a mark for the picture: the text itself, or within the
  /// model's prompt. Throws Error(usage) if the prompt is unknown.
  [[nodiscard]] std::string prompt_for(const std::string& text) const;

 private:
  /// Rows and columns of the tokens of one tile.
  [[nodiscard]] std::int64_t tile_rows() const;
  [[nodiscard]] std::int64_t tile_columns() const;
  [[nodiscard]] TileCounts tiles_of(const Image& picture) const;
  /// The part of the text that takes the place of a picture's mark.
  [[nodiscard]] std::string picture_text(const TileCounts& tiles) const;
  /// The tokens `ids` that stand for the picture. Throws Error(usage) if they are not as many as
  /// it needs.
  [[nodiscard]] TokenCells cells_in(const std::vector<std::int64_t>& ids,
                                    const TileCounts& tiles) const;
  void put_picture_into(Text& text) const;
  /// The rows [tokens of a tile, D] of the normalised pixels of an image of the tower's size.
  [[nodiscard]] Tensor rows_of(Tensor pixels, const std::string& label,
                               const Progress& progress) const;

  std::shared_ptr<const Transformer> tower_, language_;
  ImageConnector connector_;
  std::string architecture_;
  std::vector<Assumption> assumptions_;
  std::int64_t feature_layer_;  ///< the tower's layer that is read, from 0
  bool final_norm_, keeps_prefix_;
  std::int64_t image_token_;
  std::optional<TileMarks> marks_;
  std::string mark_;    ///< text of the token for the picture
  std::string prompt_;  ///< empty if unknown
};

/// The connector's tensors. Throws Error(damaged) naming a tensor that is missing, superfluous, or
/// does not fit widths of the tower and the language model, and Error(unsupported) for patches that
/// do not form whole squares.
[[nodiscard]] ImageConnector read_image_connector(const VisionLanguageFile& file,
                                                  const ModelSpec& tower,
                                                  std::int64_t language_width);

}  // namespace attnscope
