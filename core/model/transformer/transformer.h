// Runs all models: embedding, layers and read-out, with the parts that a ModelSpec names.
#pragma once

#include <string>
#include <vector>

#include "core/model/layer_run.h"
#include "core/model/model.h"
#include "core/model/transformer/weight_extents.h"
#include "core/model/weights/transformer_weights.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

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

 private:
  /// The input of the first layer, with its layout.
  struct Start {
    Tensor tokens;  ///< [N, D]; for a pyramid [pixels, C]
    TokenLayout layout;
    std::optional<Image> image;
    std::int64_t end = 0;  ///< token that is read, for Readout::end_token
    Tensor second_tokens;  ///< [N, D], tokens of a decoder's text
    TokenLayout second_layout;
  };

  [[nodiscard]] Start embed(const Input& input) const;
  [[nodiscard]] Start embed_text(const Input& input) const;
  void embed_second_text(const Input& input, Start& start) const;
  /// The shape of each layer's attention, given the layout of each stage.
  [[nodiscard]] std::vector<AttentionShape> shapes(const std::vector<TokenLayout>& layouts,
                                                   const Start& start) const;
  /// The layouts of all stages.
  [[nodiscard]] std::vector<TokenLayout> stage_layouts(const Start& start) const;
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

}  // namespace attnscope
