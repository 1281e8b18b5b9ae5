#include "core/model/additive_pooling.h"

#include <utility>

namespace attnscope {

namespace {

void record(const LayerRun& run, const AttentionInput& input, const std::string& which) {
  LayerTrace& recorded = *run.recorded;
  if (which == "query") {
    NamedTensors both = std::move(recorded.quantities);
    record_attention(run.mechanism, input, run.request, recorded);
    recorded.quantities = std::move(both);
  }
  // One number a token is always kept: what each counts, for any end of the text.
  const bool kept = run.request.quantities || run.mechanism.choice().name == "additive";
  if (!kept) return;
  const std::string attention = which + "_";
  for (auto& [name, tensor] : run.mechanism.quantities(input)) {
    recorded.quantities.insert_or_assign(attention + name, tensor);
  }
}

}  // namespace

Tensor pool_tokens(const LayerRun& run, const Tensor& asking, const Tensor& pooled,
                   const std::string& which, std::int64_t heads, bool causal) {
  NamedTensors parameters = run.parameters;
  for (const char* name : {"importance", "importance_bias"}) {
    const auto own = parameters.find(which + "_" + name);
    if (own != parameters.end()) parameters.insert_or_assign(name, own->second);
  }
  const AttentionInput input{.queries = asking.matrix(),
                             .keys = pooled.matrix(),
                             .values = pooled.matrix(),
                             .heads = heads,
                             .parameters = &parameters,
                             .layout = &run.layout,
                             .causal = causal,
                             .layer = run.layer,
                             .channel = run.request.channel};
  if (run.recorded) record(run, input, which);
  return run.mechanism.forward(input);
}

}  // namespace attnscope
