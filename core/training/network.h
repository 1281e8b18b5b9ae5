// A transformer whose parameters have gradients: the same function as the runner computes of the
// file that they are saved to.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/training/parameters/parameters.h"
#include "core/training/parts/trained_block.h"
#include "core/training/parts/trained_embedding.h"
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
  ModelSpec spec_;
  ParameterTable table_;
  std::unique_ptr<const TrainedEmbedding> embedding_;
  std::vector<TrainedBlock> blocks_;
  std::unique_ptr<const TrainedReadout> readout_;
};

}  // namespace attnscope
