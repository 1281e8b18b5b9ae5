// Classifiers of texts with Fastformer's bidirectional attention (Wu et al. 2021).
#pragma once

#include "core/model/layer_run.h"
#include "core/model/model.h"
#include "core/model/text_embedding.h"
#include "core/model/weight_extents.h"
#include "core/model/weights/vit_weights.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

struct TextClassifierWeights {
  struct Layer {
    /// `mechanism`: query_importance and key_importance, [H, H·d], and the biases of both, [H].
    BlockWeights block;
    Linear transform;  ///< H·d → H·d
  };

  TextEmbedding embedding;
  std::vector<Layer> layers;
  Linear pooling1, pooling2;  ///< D → P → 1: each token's logit in the mean that is read out
  Linear head;                ///< D → classes
};

/// Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] TextClassifierWeights read_text_classifier_weights(const Checkpoint& checkpoint,
                                                                 const Architecture& architecture,
                                                                 const Progress& progress = {});

/// Post-LN layers x = LN(x + out(transform(k̄ ⊙ V) + Q)), x = LN(x + MLP(x)), with α over the
/// queries, q̄ = Σ α Q, P = q̄ ⊙ K, β over P, k̄ = Σ β P (Wu et al., Eq. 3 to 6); V is Q where the
/// file has the same tensor for both, as theirs have. The head reads the mean of the tokens by
/// softmax(pooling2(tanh(pooling1(x)))).
///
/// Traces are as CausalLm's of Fastformer-LM, without look-ahead hidden. The last layer's quantity
/// "pooling_importance" [1, N] is what each token counts in the mean that is read out.
class TextClassifier final : public Model {
 public:
  TextClassifier(std::filesystem::path file, std::string name, Architecture architecture,
                 TextClassifierWeights weights, std::shared_ptr<const Vocabulary> vocabulary);

  [[nodiscard]] const ModelSpec& spec() const override { return architecture_.spec; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::filesystem::path& file() const override { return file_; }
  [[nodiscard]] const std::string& architecture() const override { return architecture_.name; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override {
    return architecture_.assumptions;
  }
  [[nodiscard]] WeightExtents extents() const;

  /// Padding at the end of a text is left out. Throws Error(usage) for an input that is no text,
  /// tokens the model does not have, and padding before the end.
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;

 private:
  void leave_out_padding(TokenizedText& tokens, const Input& input) const;
  /// In place.
  void run_layer(const TextClassifierWeights::Layer& layer, const LayerRun& run, Tensor& x) const;
  /// What each token counts in the readout, [1, N].
  [[nodiscard]] Tensor pooling_importance(const Tensor& x) const;

  std::filesystem::path file_;
  std::string name_;
  Architecture architecture_;
  TextClassifierWeights weights_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace attnscope
