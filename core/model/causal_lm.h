// Causal language models: GPT-2 and its kin, labml's AFT, and Fastformer-LM.
#pragma once

#include "core/model/layer_run.h"
#include "core/model/model.h"
#include "core/model/text_embedding.h"
#include "core/model/weight_extents.h"
#include "core/model/weights/vit_weights.h"
#include "core/tokenizer/vocabulary.h"

namespace attnscope {

struct CausalLmWeights {
  TextEmbedding embedding;
  std::optional<LayerNorm> final_norm;
  /// `mechanism` of Fastformer-LM's layers: query_importance and key_importance, each [H, d] and
  /// scaled so that w·x / √d is the logit.
  std::vector<BlockWeights> blocks;
  Linear head;            ///< D → vocabulary
  bool tied_head = true;  ///< its weight is the token embedding's
};

/// Throws Error(damaged) naming the tensor whose shape does not fit the spec.
[[nodiscard]] CausalLmWeights read_causal_lm_weights(const Checkpoint& checkpoint,
                                                     const Architecture& architecture,
                                                     const Progress& progress = {});

/// A layer of Fastformer-LM attends twice: the query-attention pools queries, and its mean times
/// the keys is what the key-attention pools. A trace's maps and map factors are those of the
/// query-attention; quantities have both: "query_logits", "key_logits", "query_importance",
/// "key_importance" (each [H, N]; importance over the whole text), which are kept unasked.
///
/// Another mechanism laid over it takes the place of both poolings. What a mean is multiplied with
/// asks for it: keys are the queries of the query-attention, values those of the key-attention.
class CausalLm final : public Model {
 public:
  CausalLm(std::filesystem::path file, std::string name, Architecture architecture,
           CausalLmWeights weights, std::shared_ptr<const Vocabulary> vocabulary);

  [[nodiscard]] const ModelSpec& spec() const override { return architecture_.spec; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::filesystem::path& file() const override { return file_; }
  [[nodiscard]] const std::string& architecture() const override { return architecture_.name; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override {
    return architecture_.assumptions;
  }
  [[nodiscard]] WeightExtents extents() const;
  [[nodiscard]] const Vocabulary& vocabulary() const { return *vocabulary_; }

  /// A mechanism with a parameter "causal" is run with it on. Throws Error(usage) for an input that
  /// is no text, tokens the model does not have, and mechanisms that cannot hide later tokens.
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;

 private:
  /// x += …, in place.
  void run_transformer_attention(const BlockWeights& block, const LayerRun& run, Tensor& x) const;
  void run_fastformer_attention(const BlockWeights& block, const LayerRun& run, Tensor& x) const;

  std::filesystem::path file_;
  std::string name_;
  Architecture architecture_;
  CausalLmWeights weights_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

}  // namespace attnscope
