// Vision transformers and bare transformer encoders, pre- or post-LN.
#pragma once

#include "core/model/layer_run.h"
#include "core/model/model.h"
#include "core/model/weight_extents.h"
#include "core/model/weights/vit_weights.h"

namespace attnscope {

class Vit final : public Model {
 public:
  Vit(std::filesystem::path file, std::string name, Architecture architecture, VitWeights weights);

  [[nodiscard]] const ModelSpec& spec() const override { return architecture_.spec; }
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::filesystem::path& file() const override { return file_; }
  [[nodiscard]] const std::string& architecture() const override { return architecture_.name; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const override {
    return architecture_.assumptions;
  }
  [[nodiscard]] WeightExtents extents() const;
  [[nodiscard]] Trace run(const Input& input, const MechanismChoice& mechanism,
                          const TraceRequest& request, const Progress& progress) const override;

 private:
  /// [C, H, W] → [tokens, D].
  [[nodiscard]] Tensor embed(const Tensor& image) const;
  /// In place.
  void run_block(const BlockWeights& block, const LayerRun& run, Tensor& tokens) const;
  [[nodiscard]] Tensor attend(const BlockWeights& block, const LayerRun& run,
                              ConstMatrixMap tokens) const;
  /// What the head reads of the normalised tokens, [1, D]; empty where nothing is read out.
  [[nodiscard]] Tensor read_out(const Tensor& tokens) const;
  /// The logits, [classes]; empty without a head.
  [[nodiscard]] Tensor classify(const Tensor& features, const Tensor& tokens) const;

  std::filesystem::path file_;
  std::string name_;
  Architecture architecture_;
  VitWeights weights_;
};

}  // namespace attnscope
