#include "core/model/model.h"

namespace attnscope {

Trace run_by_layers(const Model& model, const Input& input, const MechanismChoice& mechanism,
                    TraceRequest request, std::int64_t batch_bytes, const TakeLayers& take,
                    const Progress& progress) {
  std::vector<std::int64_t> waiting;
  std::int64_t bytes = 0;
  const auto hand_over = [&](Trace& trace, const Progress& own) {
    if (waiting.empty()) return;
    take(trace, waiting, own);
    for (const std::int64_t layer : waiting) {
      LayerTrace& taken = trace.layers[static_cast<std::size_t>(layer)];
      taken.implied_map = {};
      taken.factors.reset();
    }
    waiting.clear();
    bytes = 0;
  };
  request.layer_recorded = [&](Trace& trace, std::int64_t layer) {
    waiting.push_back(layer);
    bytes += trace.layers[static_cast<std::size_t>(layer)].implied_map.bytes();
    // The run reports the progress; here it only allows cancelling.
    if (bytes >= batch_bytes) hand_over(trace, progress.silent());
  };
  constexpr double kOfRunning = 0.5;
  Trace trace = model.run(input, mechanism, request, progress.part(0, kOfRunning));
  hand_over(trace, progress.part(kOfRunning, 1));
  return trace;
}

}  // namespace attnscope
