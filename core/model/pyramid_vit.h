// Pyramid vision transformers: stages on ever coarser grids, with spatially reduced keys (PVTv2),
// hashed attention (EcoFormer), or windows and position convolutions (Twins-SVT).
#pragma once

#include "core/model/layer_run.h"
#include "core/model/model.h"
#include "core/model/weight_extents.h"
#include "core/model/weights/pyramid_weights.h"

namespace attnscope {

class PyramidVit final : public Model {
 public:
  PyramidVit(std::filesystem::path file, std::string name, Architecture architecture,
             PyramidWeights weights);

  [[nodiscard]] const ModelSpec& spec() const override { return architecture_.spec; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::filesystem::path& file() const override { return file_; }
  [[nodiscard]] const std::string& architecture() const override { return architecture_.name; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override {
    return architecture_.assumptions;
  }
  [[nodiscard]] WeightExtents extents() const;
  /// Layers with windows record maps of all tokens, zero outside the windows, and no quantities.
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;

 private:
  /// What one block is run with, and where it records; nowhere if null.
  struct BlockRun {
    const PyramidStage& stage;
    GridExtents grid;
    bool windowed;
    const Mechanism& mechanism;
    const TraceRequest& request;
    NamedTensors parameters;
    std::int64_t layer = 0;
    LayerTrace* recorded = nullptr;
  };

  /// In place.
  void run_block(const PyramidBlockWeights& block, const BlockRun& run, Tensor& tokens) const;
  [[nodiscard]] Tensor attend(const PyramidBlockWeights& block, const BlockRun& run,
                              const Tensor& tokens) const;
  [[nodiscard]] Trace begin(const Mechanism& mechanism, const Input& input,
                            const TraceRequest& request,
                            const std::vector<GridExtents>& grids) const;

  std::filesystem::path file_;
  std::string name_;
  Architecture architecture_;
  PyramidWeights weights_;
};

/// The tokens of a grid of windows of `side` × `side`, window after window: old row of each new
/// row.
[[nodiscard]] std::vector<std::int64_t> window_order(const GridExtents& grid, std::int64_t side);

}  // namespace attnscope
