// What a run of a model and a run of one of its layers share: which mechanism, which parameters,
// what is recorded.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/architecture/model_spec.h"
#include "core/attention/mechanism.h"
#include "core/model/model.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The mechanism of each layer when a run asks for `asked`: what each was trained with, if that is
/// what the model was trained with; `asked` in every layer that has the model's own mechanism, if
/// it has the same name with other parameters (EcoFormer's last stage stays softmax); else `asked`
/// everywhere. Throws Error(usage) as make_mechanism does.
[[nodiscard]] std::vector<std::shared_ptr<const Mechanism>> layer_mechanisms(
    const ModelSpec& spec, const MechanismChoice& asked);

/// What one layer's attention is run with, and where it records.
struct LayerRun {
  const Mechanism& mechanism;
  const TraceRequest& request;  ///< with_room_for_maps
  const TokenLayout& layout;    ///< of the layer's tokens
  /// What the layers of a tail are given besides: the tokens [M, D] of the stage before.
  const Tensor* memory = nullptr;
  const TokenLayout* memory_layout = nullptr;
  NamedTensors parameters;
  std::int64_t layer = 0;
  LayerTrace* recorded = nullptr;                    ///< nothing is recorded if null
  std::optional<double> score_scale = std::nullopt;  ///< AttentionInput::scale
};

/// Throws Error(usage) for layers the model does not have.
void check_requested_layers(const TraceRequest& request, const ModelSpec& spec);

/// Whether `request` wants anything of that layer.
[[nodiscard]] bool wants_layer(const TraceRequest& request, std::int64_t layer);

/// `request` with the decision what becomes of its implied maps: large_maps is `refused` if they
/// are held, else they are computed, which all of them can be if `computable`. Throws Error(usage)
/// if they are larger than it allows. `entries`: how many numbers those of each layer have.
[[nodiscard]] TraceRequest with_room_for_maps(TraceRequest request,
                                              const std::vector<std::int64_t>& entries,
                                              bool computable);

/// The model's own parameters of that layer, under those of the request.
[[nodiscard]] NamedTensors layer_parameters(const NamedTensors& own, const TraceRequest& request,
                                            std::int64_t layer);

/// [N, H·d] → [H, N, d]; [1, N, columns] of what is not made of heads.
[[nodiscard]] Tensor by_head(ConstMatrixMap rows, std::int64_t heads);

/// Records, if `request` wants them, queries [N, H·d], keys [M, Hk·d] and values as the mechanism
/// is to have them: after norms and rotary positions.
void record_vectors(const Tensor& queries, const Tensor& keys, const Tensor& values,
                    std::int64_t heads, std::int64_t key_heads, const TraceRequest& request,
                    LayerTrace& layer);

/// The implied maps of that input, which keep its `queries` and `keys`. Of mechanisms with
/// MechanismEntry::rows, and inputs without terms.
[[nodiscard]] ImpliedMaps computed_maps(const Mechanism& mechanism, const AttentionInput& input,
                                        Tensor queries, Tensor keys);

/// Records what the queries of `input` see, and what its scores q·k are multiplied with.
void record_scores(const Mechanism& mechanism, const AttentionInput& input, LayerTrace& layer);

/// What the heads give, [N, H·dv]. Records, where `run` does, what else it wants of one layer's
/// attention, and the bound of its rank; the layouts are the caller's, and computed maps, which are
/// to keep its queries and keys. Maps stay as they are.
[[nodiscard]] Tensor attend(const LayerRun& run, const AttentionInput& input);

/// Says what `layer` ran with, where that is not what the trace says.
void record_mechanism(const Mechanism& mechanism, const Trace& trace, LayerTrace& layer);

/// The trace of a run that begins: of which model, on which input, under which mechanism, and
/// whether that is `trained`, what the model was trained with; with which program, which file, and
/// what was assumed of it.
[[nodiscard]] Trace begin_trace(const Model& model, const Input& input, const Mechanism& mechanism,
                                const MechanismChoice& trained);

}  // namespace attnscope
