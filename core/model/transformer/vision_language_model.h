// A model of pictures and a text: a language model whose text has the patches of an image tower in
// it (LLaVA: Liu et al. 2023, Improved Baselines with Visual Instruction Tuning; Idefics 3:
// Laurençon et al. 2024; Qwen2-VL: Wang et al. 2024; Gemma 3: Gemma Team 2025).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/architecture/vision_language/vision_language_file.h"
#include "core/model/model.h"
#include "core/model/parts/image_connector.h"
#include "core/model/preprocessing/picture_tiles.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

/// Specification, name and file are the language model's, and so are the layers of a trace. Its
/// layout has the pictures' grids within the text. Each picture is read as if it were alone.
class VisionLanguageModel final : public Model {
 public:
  /// `file` has the settings; its checkpoints are not used.
  VisionLanguageModel(std::shared_ptr<const Transformer> tower,
                      std::shared_ptr<const Transformer> language, ImageConnectors connectors,
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

  /// `input` is a text with pictures, or a text alone. A text without a mark for a picture
  /// ("<image>") is put into the model's prompt, after all pictures. Throws Error(usage) for other
  /// inputs, another number of marks than of pictures and texts that are too long, and Cancelled.
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;
  /// The tokens that `run` gives to the language model. Throws likewise.
  [[nodiscard]] TokenizedText tokens_of(const Input& input) const;
  /// Runs the tower on the pictures of `input`; their tokens are those of `text`, which tokens_of
  /// gave, that stand for the pictures. Empty without a picture.
  [[nodiscard]] std::optional<PictureTokens> look_at(const Input& input, const TokenizedText& text,
                                                     const Progress& progress) const;
  /// The whole text of a question, with marks for its pictures: the text itself, or within the
  /// model's prompt after `pictures` marks. Throws Error(usage) if the prompt is unknown.
  [[nodiscard]] std::string prompt_for(const std::string& text, std::size_t pictures) const;

 private:
  /// Tokens of one tile, or of a picture that is not cut, and the number of tiles.
  struct PictureShape {
    std::int64_t rows = 0, columns = 0;
    TileCounts tiles;
    /// Part of the grid of tiles that remains without the border, each row with an end.
    std::optional<CellBlock> packed = {};
    /// Number of tokens of the tiles and the whole, with the ends of rows.
    [[nodiscard]] std::int64_t tokens() const {
      if (packed) return rows * columns + packed->rows * (packed->columns + 1);
      return (tiles.down * tiles.across + 1) * rows * columns;
    }
  };
  [[nodiscard]] PictureShape shape_of(const Image& picture) const;
  [[nodiscard]] std::vector<PictureShape> shapes_of(const Text& text) const;
  [[nodiscard]] static std::int64_t tokens_of_all(const std::vector<PictureShape>& shapes);
  /// The part of the text that takes the place of a picture's mark.
  [[nodiscard]] std::string picture_text(const PictureShape& shape) const;
  /// The tokens `ids` that stand for each picture. Throws Error(usage) if they are not as many as
  /// the pictures need.
  [[nodiscard]] std::vector<TokenCells> cells_in(const std::vector<std::int64_t>& ids,
                                                 const std::vector<PictureShape>& shapes) const;
  /// The tokens of one picture, which begins at `next` or later; `next` becomes the one after it.
  [[nodiscard]] TokenCells next_cells(const std::vector<std::int64_t>& ids,
                                      const PictureShape& shape, std::int64_t& next) const;
  void put_pictures_into(Text& text, const std::vector<PictureShape>& shapes) const;
  /// Rows [tokens of a tile, D] of the normalised pixels of an image: those of the text, then those
  /// of each deeper connector.
  [[nodiscard]] std::vector<Tensor> rows_of(Tensor pixels, const std::string& label,
                                            const Progress& progress) const;
  /// The images that the tower reads one by one, and in `covered` what the cells cover.
  [[nodiscard]] std::vector<Tensor> pixels_of(const std::shared_ptr<const Image>& picture,
                                              const std::string& label, const PictureShape& shape,
                                              Image& covered) const;
  /// The rows of the whole, then those of the tiles put together without their border, each row of
  /// patches with its end. `parts` are those of the whole and of each tile.
  [[nodiscard]] Tensor packed_rows(const std::vector<Tensor>& parts,
                                   const PictureShape& shape) const;

  std::shared_ptr<const Transformer> tower_, language_;
  ImageConnectors connectors_;
  std::string architecture_;
  std::vector<Assumption> assumptions_;
  std::int64_t feature_layer_;  ///< the tower's layer that is read, from 0
  bool final_norm_, keeps_prefix_;
  std::int64_t image_token_;
  std::optional<TileMarks> marks_;
  std::vector<ImageSize> sizes_;  ///< sizes that a picture fills with tiles; empty: none
  std::string token_;             ///< text of a token of the picture
  std::string mark_, end_mark_;   ///< text in the picture's place, and after the picture
  std::string written_;           ///< text that a user's "<image>" stands for, with mark_ in it
  std::string prompt_;            ///< empty if unknown
};

/// The tensors that the user excludes, as assumptions.
[[nodiscard]] std::vector<Assumption> excluded_tensors(const VisionLanguageFile& file);

}  // namespace attnscope
