// Runs all models: embedding, layers and read-out, with the parts that a ModelSpec names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/architecture/input_spec.h"
#include "core/input/input.h"
#include "core/model/layer_run.h"
#include "core/model/model.h"
#include "core/model/transformer/weight_extents.h"
#include "core/model/weights/transformer_weights.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Tokens of a language model that stand for the pictures of a text, in their order in it.
struct PictureTokens {
  std::vector<std::int64_t> places;  ///< tokens of the rows, ascending: those of cells and others
  /// Rows [tokens, D] in place of the tokens' embeddings, then those that are added to the tokens
  /// after each of the first layers.
  std::vector<Tensor> rows;
  std::vector<TokenCells> cells;  ///< one per picture
  std::vector<Image> images;      ///< the parts of the pictures that the cells cover
};

/// Padding at the end of a text is removed, unless the model pads to its context. With additive or
/// attention pooling, the last layer's quantity "pooling_importance" [1 or H, N] holds the weights
/// of the tokens.
class Transformer final : public Model {
 public:
  /// `vocabulary` is required for models of texts, and null for others.
  Transformer(std::filesystem::path file, std::string name, Architecture architecture,
              TransformerWeights weights, std::shared_ptr<const Vocabulary> vocabulary = nullptr);

  [[nodiscard]] const ModelSpec& spec() const override { return architecture_.spec; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::filesystem::path& file() const override { return file_; }
  [[nodiscard]] const std::string& architecture() const override { return architecture_.name; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override {
    return architecture_.assumptions;
  }
  [[nodiscard]] ModelStatus status() const override { return status_; }
  /// Must be called before the model is shared.
  void set_status(ModelStatus status) { status_ = std::move(status); }
  [[nodiscard]] WeightExtents extents() const;
  [[nodiscard]] const TransformerWeights& weights() const { return weights_; }
  /// Null if the model reads no texts.
  [[nodiscard]] const Vocabulary* vocabulary() const { return vocabulary_.get(); }

  /// In causal models a mechanism with a parameter "causal" is run with it on. Throws Error(usage)
  /// for inputs of another kind, unknown tokens, padding before the end of a text, and mechanisms
  /// that do not support causal masking or the model's score terms.
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;

  /// Runs the tokens of a text, of which some stand for `pictures` unless it is null. `input` names
  /// the record. Throws like run.
  [[nodiscard]] Trace run_tokens(const Input& input, TokenizedText text,
                                 const PictureTokens* pictures, const MechanismChoice& mechanism,
                                 const TraceRequest& request, const Progress& progress) const;
  /// True if a run can begin at any layer (TraceRequest::first_layer): if all layers have the same
  /// tokens.
  [[nodiscard]] bool can_skip_layers() const { return weights_.stages.size() == 1; }

  /// True if a text of `tokens` tokens can be run part by part with append: a causal language model
  /// whose layers see earlier tokens only as keys and values, and rotary frequencies and a
  /// mechanism that do not depend on later tokens.
  [[nodiscard]] bool can_append(const MechanismChoice& mechanism, std::int64_t tokens) const;
  /// Runs the tokens `ids`, which follow those of `cache`, and adds their keys and values to it; an
  /// empty cache begins a text. Returns the logits [vocabulary] of the token after the last, which
  /// are those of a run of the whole text but for rounding. Requires can_append and at least one id
  /// below the vocabulary's size. `pictures`, if not null, are those of the whole text and lie
  /// within the first tokens. Throws Error(usage) beyond the context, and Cancelled.
  [[nodiscard]] Tensor append(const std::vector<std::int64_t>& ids,
                              const MechanismChoice& mechanism, std::vector<KeyValueCache>& cache,
                              const Progress& progress,
                              const PictureTokens* pictures = nullptr) const;

 private:
  /// The input of the first layer, with its layout.
  struct Start {
    Tensor tokens;  ///< [N, D]; for a pyramid [pixels, C]
    TokenLayout layout;
    std::vector<Image> images;
    const PictureTokens* pictures = nullptr;
    std::int64_t end = 0;  ///< token that is read, for Readout::end_token
    Tensor second_tokens;  ///< [N, D], tokens of a decoder's text
    TokenLayout second_layout;
  };

  [[nodiscard]] Start embed(const Input& input) const;
  [[nodiscard]] Start embed_text(const Input& input, TokenizedText text,
                                 const PictureTokens* pictures) const;
  [[nodiscard]] Trace run_from(Start start, const Input& input, const MechanismChoice& asked,
                               const TraceRequest& wanted, const Progress& progress) const;
  /// Adds what follows the embedding of the tokens, of which the first has the position `first`.
  void add_positions(Tensor& tokens, std::int64_t first) const;
  void embed_second_text(const Input& input, Start& start) const;
  /// The shape of each layer's attention, given the layout of each stage.
  [[nodiscard]] std::vector<AttentionShape> shapes(const std::vector<TokenLayout>& layouts,
                                                   const Start& start) const;
  /// The layouts of all stages.
  [[nodiscard]] std::vector<TokenLayout> stage_layouts(const Start& start) const;
  void check_first_layer(const TraceRequest& request) const;
  [[nodiscard]] LayerKind kind_of(const Block& block, std::size_t stage) const;
  void run_layers(const std::vector<std::shared_ptr<const Mechanism>>& mechanisms,
                  const std::vector<TokenLayout>& layouts, const TraceRequest& request,
                  const Progress& progress, Start& start, Trace& trace) const;
  void read_out(const TraceRequest& request, Start& start, Trace& trace) const;

  std::filesystem::path file_;
  std::string name_;
  Architecture architecture_;
  ModelStatus status_;
  TransformerWeights weights_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<std::string> labels_;  ///< labels of the logits
};

/// Throws Error(usage) naming `input` if it is a text with pictures.
void refuse_pictures(const Input& input);

/// Removes tokens `id` at the end of a text; does nothing if `id` is negative. Throws Error(usage)
/// naming `input` if such a token comes before the end or if the text is nothing but padding.
void leave_out_padding(std::int64_t id, const Input& input, TokenizedText& tokens);

/// Appends tokens spec.padding up to spec.context; they are marked as special.
void fill_up(const InputSpec& spec, const Vocabulary& vocabulary, TokenizedText& tokens);

// Access to a model's weights for analyses of its inner parts:

/// The transformer behind `model`: of a picture and a text, the language model. Null for other
/// models that are composed of several.
[[nodiscard]] const Transformer* find_transformer(const Model& model);

/// Like find_transformer, but throws Error(usage) instead of returning null.
[[nodiscard]] const Transformer& transformer_of(const Model& model);

/// The block of a layer. Throws Error(usage) if there is no such layer.
[[nodiscard]] const Block& block_of(const Transformer& model, std::int64_t layer);

/// Throws Error(usage) unless the layer's projections are matrix products, not adder arithmetic.
void require_products(const Transformer& model, std::int64_t layer);

/// W [in, out] of y = x W + b, for a layer that is a matrix product.
[[nodiscard]] MatrixD matrix_of(const Linear& linear);
/// b [out]; zeros if the layer has no bias.
[[nodiscard]] Eigen::RowVectorXd bias_of(const Linear& linear);

}  // namespace attnscope
