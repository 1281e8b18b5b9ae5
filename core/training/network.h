// A transformer with gradients of its parameters. It computes the same function as the runner does
// for the saved file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/training/learned_parameters/learned_parameters.h"
#include "core/training/parts/trained_block.h"
#include "core/training/parts/trained_embedding.h"
#include "core/training/parts/trained_readout.h"

namespace attnscope {

/// Settings of a training pass that tests do not have.
struct Regularisation {
  double dropout = 0;            ///< rate for the embedding and a layer's two branches (Omission)
  double attention_dropout = 0;  ///< rate for the attention weights (WeightDropout)
  double drop_path = 0;          ///< rate for the last layer's branches (drop_path_of_layer)
  double label_smoothing = 0;    ///< ε of LossTargets
  bool gumbel_noise = false;     ///< noise on the biases of daft-one-hot (DAFT, Eq. 11)
};

/// Immutable; the caller owns the values of the parameters. A pass runs on one thread; many may run
/// at once, each with its own Room.
class TrainedNetwork {
 public:
  /// Buffers of one thread: the results of the layers, O(tokens · width) each.
  struct Room {
    Matrix x, dx;
    TrainedEmbedding::Memory embedding;
    std::vector<TrainedBlock::Memory> blocks;
    std::vector<TrainedMerging::Memory> mergings;  ///< merging layers of a pyramid's stages
    std::vector<Matrix> before_neighbours;
    Matrix neighbours;
    TrainedBlock::Room block;
    TrainedReadout::Memory readout;
  };

  /// Throws Error(unsupported), naming the member, for a model with parts that have no gradient.
  explicit TrainedNetwork(ModelSpec spec, const GradientForms& forms = {},
                          const Regularisation& regularisation = {});

  [[nodiscard]] const ModelSpec& spec() const { return spec_; }
  [[nodiscard]] const ParameterTable& parameters() const { return table_; }

  /// The loss of `examples` for parameter values `values`, regularised if they have random numbers.
  /// If `gradients` is not null, adds the gradient of weight · Σ loss. Without gradients,
  /// room.readout.logits holds the logits.
  LossSum run(const float* values, float* gradients, float weight, const Examples& examples,
              Room& room) const;

 private:
  /// The layers on one grid; all layers of a model without stages.
  struct Stage {
    std::int64_t tokens = 0;  ///< number of tokens of an image; 0 if it depends on the input
    std::optional<TrainedMerging> merging;
    std::vector<TrainedBlock> blocks;
    std::optional<TrainedNeighbours> neighbours;  ///< applied after the first block
  };

  void add_stage(std::size_t index, const GradientForms& forms);
  void add_block(Stage& stage, std::int64_t layer, const std::string& prefix,
                 const GradientForms& forms);

  /// The omissions of the embedding (layer −1) or of a layer.
  [[nodiscard]] Omission omission_of(const Examples& examples, std::int64_t layer) const;

  ModelSpec spec_;
  Regularisation regularisation_;
  ParameterTable table_;
  std::unique_ptr<const TrainedEmbedding> embedding_;
  std::vector<Stage> stages_;
  std::unique_ptr<const TrainedReadout> readout_;
};

/// The difference between a model and the models that have gradients: the path of the first member
/// in which the two differ, such as "layer.rotary.form"; empty if they
/// are equal.
[[nodiscard]] std::string first_difference(const ModelSpec& wanted, const ModelSpec& found);

}  // namespace attnscope
