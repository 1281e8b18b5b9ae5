// The one runner: embedding, layers, read-out, of whatever parts a ModelSpec names.
#pragma once

#include <string>
#include <vector>

#include "core/model/layer_run.h"
#include "core/model/model.h"
#include "core/model/transformer/weight_extents.h"
#include "core/model/weights/transformer_weights.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

/// Of a model of texts, padding at the end of one is left out. Where it reads out by additive
/// pooling, the last layer's quantity "pooling_importance" [1, N] is what each token counts.
class Transformer final : public Model {
 public:
  /// `vocabulary`: of a model of texts, else null.
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
  /// Before the model is handed out.
  void set_status(ModelStatus status) { status_ = std::move(status); }
  [[nodiscard]] WeightExtents extents() const;
  [[nodiscard]] const TransformerWeights& weights() const { return weights_; }
  /// Null where it reads no texts.
  [[nodiscard]] const Vocabulary* vocabulary() const { return vocabulary_.get(); }

  /// In causal layers a mechanism with a parameter "causal" is run with it on. Throws Error(usage)
  /// for an input of another kind, tokens the model does not have, padding before the end of a
  /// text, and mechanisms that cannot hide later tokens or take what the model adds to its scores.
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;

 private:
  /// What the first layer is given, and what it is of.
  struct Start {
    Tensor tokens;  ///< [N, D]; of a pyramid [pixels, C]
    TokenLayout layout;
    std::optional<Image> image;
    std::int64_t end = 0;  ///< of Readout::end_token: the token that is read
    Tensor second_tokens;  ///< [N, D], of a decoder's text
    TokenLayout second_layout;
  };

  [[nodiscard]] Start embed(const Input& input) const;
  [[nodiscard]] Start embed_text(const Input& input) const;
  void embed_second_text(const Input& input, Start& start) const;
  /// Of each layer, on what `layouts` has of each stage.
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
  std::vector<std::string> labels_;  ///< of the logits
};

}  // namespace attnscope
