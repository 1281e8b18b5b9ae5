// A transformer whose parameters have gradients: the same function as the runner computes of the
// file that they are saved to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/training/parameters/parameters.h"
#include "core/training/parts/trained_block.h"
#include "core/training/parts/trained_embedding.h"
#include "core/training/parts/trained_merging.h"
#include "core/training/parts/trained_neighbours.h"
#include "core/training/parts/trained_readout.h"

namespace attnscope {

/// Immutable; the parameters' values are the caller's. A pass runs on one thread; many run at once,
/// each in a room of its own.
class TrainedNetwork {
 public:
  /// What one thread works in: what the layers computed, O(tokens · width) each.
  struct Room {
    Matrix x, dx;
    TrainedEmbedding::Memory embedding;
    std::vector<TrainedBlock::Memory> blocks;
    std::vector<TrainedMerging::Memory> mergings;  ///< of a pyramid's stages
    std::vector<Matrix> before_neighbours;
    Matrix neighbours;
    TrainedBlock::Room block;
    TrainedReadout::Memory readout;
  };

  /// Throws Error(unsupported), naming the member, for a model with parts that have no gradient.
  explicit TrainedNetwork(ModelSpec spec, const GradientForms& forms = {});

  [[nodiscard]] const ModelSpec& spec() const { return spec_; }
  [[nodiscard]] const ParameterTable& parameters() const { return table_; }

  /// The loss of `examples`, of whose parameters' values are `values`; where `gradients` is not
  /// null, adds those of weight · Σ loss. The logits are in room.readout.logits without gradients.
  LossSum run(const float* values, float* gradients, float weight, const Examples& examples,
              Room& room) const;

 private:
  /// Layers on one grid; of models without stages all.
  struct Stage {
    std::int64_t tokens = 0;  ///< of an image; 0 where the input decides
    std::optional<TrainedMerging> merging;
    std::vector<TrainedBlock> blocks;
    std::optional<TrainedNeighbours> neighbours;  ///< after the first block
  };

  void add_stage(std::size_t index, const GradientForms& forms);
  void add_block(Stage& stage, std::int64_t layer, const std::string& prefix,
                 const GradientForms& forms);

  ModelSpec spec_;
  ParameterTable table_;
  std::unique_ptr<const TrainedEmbedding> embedding_;
  std::vector<Stage> stages_;
  std::unique_ptr<const TrainedReadout> readout_;
};

}  // namespace attnscope
