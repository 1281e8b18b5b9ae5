// Shared parts of the runs of a model and of a single layer: the choice of mechanisms and
// parameters, and recording.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/attention/mechanism.h"
#include "core/model/model.h"
#include "core/trace/maps_of_vectors.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The mechanism of each layer if a run requests `asked`: the trained ones if `asked` is what the
/// model was trained with; `asked` in every layer that has the model's main mechanism, if `asked`
/// is that mechanism with other parameters (EcoFormer's last stage stays softmax); otherwise
/// `asked` in all layers. Throws Error(usage) like make_mechanism.
[[nodiscard]] std::vector<std::shared_ptr<const Mechanism>> layer_mechanisms(
    const ModelSpec& spec, const MechanismChoice& asked);

/// Keys and values of a text's tokens so far, as a layer's mechanism receives them: after norms and
/// rotary positions.
class KeyValueCache {
 public:
  /// Adds those of more tokens, [n, Hk·d] each.
  void append(const Tensor& keys, const Tensor& values);
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }
  [[nodiscard]] ConstMatrixMap keys() const { return {keys_.data(), tokens_, keys_.cols()}; }
  [[nodiscard]] ConstMatrixMap values() const { return {values_.data(), tokens_, values_.cols()}; }

 private:
  Matrix keys_, values_;  // with room for more rows
  std::int64_t tokens_ = 0;
};

/// The inputs of one layer's attention, and the place where it records.
struct LayerRun {
  const Mechanism& mechanism;
  const TraceRequest& request;  ///< result of with_room_for_maps
  const TokenLayout& layout;    ///< layout of the layer's tokens
  /// Additional input of the layers of a tail: the tokens [M, D] of the previous stage.
  const Tensor* memory = nullptr;
  const TokenLayout* memory_layout = nullptr;
  NamedTensors parameters;
  std::int64_t layer = 0;
  LayerTrace* recorded = nullptr;                    ///< null if nothing is recorded
  std::optional<double> score_scale = std::nullopt;  ///< AttentionInput::scale
  /// Keys and values of the tokens before, to which those of this run are added; null if the run
  /// has the whole text. Only for layers of Transformer::can_append.
  KeyValueCache* cache = nullptr;
};

/// Lets TraceRequest::change_rows change `rows`, if the run has it.
void offer(const LayerRun& run, LayerRows of, Tensor& rows);

/// Throws Error(usage) for layers that the model does not have.
void check_requested_layers(const TraceRequest& request, const ModelSpec& spec);

/// True if `request` selects that layer.
[[nodiscard]] bool wants_layer(const TraceRequest& request, std::int64_t layer);

/// Resolves TraceRequest::large_maps: `refused` in the result if the implied maps are stored,
/// otherwise they are computed on access, which requires `computable`. `entries` is the number of
/// map entries of each layer. Throws Error(usage) if the maps exceed the limit of `request`.
[[nodiscard]] TraceRequest with_room_for_maps(TraceRequest request,
                                              const std::vector<std::int64_t>& entries,
                                              bool computable);

/// The layer's parameters of the request, completed by the model's own.
[[nodiscard]] NamedTensors layer_parameters(const NamedTensors& own, const TraceRequest& request,
                                            std::int64_t layer);

/// Reshapes [N, H·d] to [H, N, d]. Rows whose width H does not divide become [1, N, columns].
[[nodiscard]] Tensor by_head(ConstMatrixMap rows, std::int64_t heads);

/// Records, if `request` selects them, queries [N, H·d], keys [M, Hk·d] and values as the mechanism
/// receives them: after norms and rotary positions.
void record_vectors(const Tensor& queries, const Tensor& keys, const Tensor& values,
                    std::int64_t heads, std::int64_t key_heads, const TraceRequest& request,
                    LayerTrace& layer);

/// Records the keys that the queries of `input` see, and the factor of its scores q·k.
void record_scores(const Mechanism& mechanism, const AttentionInput& input, LayerTrace& layer);

/// Output of the heads, [N, H·dv]. If `run` records, also records the other requested results of
/// the layer's attention and its rank bound. Layouts and computed maps, which store queries and
/// keys, are left to the caller. Maps are not changed.
[[nodiscard]] Tensor attend(const LayerRun& run, const AttentionInput& input);

/// Records the mechanism of `layer` if it differs from the trace's.
void record_mechanism(const Mechanism& mechanism, const Trace& trace, LayerTrace& layer);

/// An empty trace with the facts about a run: the model, input and mechanism, whether the mechanism
/// equals `trained`, the program and model file, and the assumptions about the model.
[[nodiscard]] Trace begin_trace(const Model& model, const Input& input, const Mechanism& mechanism,
                                const MechanismChoice& trained);

}  // namespace attnscope
