#include "analysis/intervention/ablation_study.h"

#include <algorithm>

#include "core/error.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

namespace {

Intervention intervention_of(std::string name, const Ablation& ablation) {
  return {.name = std::move(name),
          .needs = [ablation](TraceRequest& request) { request_for(ablation, request); },
          .change =
              [ablation](const Subject& subject, std::shared_ptr<const Trace> whole) {
                return change_of(ablation, subject, std::move(whole));
              }};
}

/// The requested indices, or 0 to count − 1 if none. Throws Error(usage) for one out of range.
std::vector<std::int64_t> indices_of(const std::vector<std::int64_t>& asked, std::int64_t count,
                                     const char* option, const char* what) {
  std::vector<std::int64_t> all;
  for (std::int64_t index = 0; index < count; ++index) all.push_back(index);
  for (const std::int64_t index : asked) {
    if (index >= 0 && index < count) continue;
    throw Error(ErrorKind::usage, std::string("the model has no such ") + what)
        .about(option)
        .expected("0 to " + std::to_string(count - 1))
        .found(std::to_string(index));
  }
  return asked.empty() ? all : asked;
}

}  // namespace

SeriesRequest ablation_series(const Subject& subject, const Ablation& ablation, AblatedUnit unit) {
  SeriesRequest series;
  series.subject = subject;
  series.label = subject.label;
  const ModelSpec& spec = subject.model->spec();
  const std::vector<std::int64_t> layers =
      indices_of(ablation.layers, spec.layers, "--layers", "layer");
  const auto heads = indices_of(ablation.heads, spec.layer.attention.heads, "--heads", "head");
  if (unit == AblatedUnit::all) {
    series.interventions.push_back(intervention_of("all", ablation));
    return series;
  }
  const Transformer& model = transformer_of(*subject.model);
  for (const std::int64_t layer : layers) {
    Ablation one = ablation;
    one.layers = {layer};
    const std::string name = "layer " + std::to_string(layer);
    if (unit == AblatedUnit::layer) {
      series.interventions.push_back(intervention_of(name, one));
      series.interventions.back().layer = layer;
      continue;
    }
    const std::int64_t own = block_of(model, layer).spec.attention.heads;
    for (const std::int64_t head : heads) {
      if (head >= own) continue;  // stages of a pyramid may have fewer heads
      one.heads = {head};
      series.interventions.push_back(intervention_of(name + " head " + std::to_string(head), one));
      series.interventions.back().layer = layer;
      series.interventions.back().head = head;
    }
  }
  return series;
}

}  // namespace attnscope
