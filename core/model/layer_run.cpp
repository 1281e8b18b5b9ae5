#include "core/model/layer_run.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/architecture/model_spec_json.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr double kMostHeld = 1 << 30;  // bytes; larger maps are computed on access if possible

/// The keys that queries see through the mask of the layer and the mechanism's own window.
SeenKeys seen_keys_of(const MechanismChoice& choice, const AttentionInput& input) {
  const auto flag = choice.parameters.find("causal");
  const bool own = (flag != choice.parameters.end() && flag->second == ParameterValue(true)) ||
                   find_mechanism(choice.name).sequential;
  const std::int64_t queries = input.queries.rows(), keys = input.keys.rows();
  SeenKeys seen;
  if (input.causal || own) seen = up_to_the_query(queries);
  if (input.terms && !input.terms->seen.empty()) {
    if (seen.ranges.empty()) seen.ranges.assign(static_cast<std::size_t>(queries), {0, keys});
    for (std::size_t i = 0; i < seen.ranges.size(); ++i) {
      const auto& [first, end] = input.terms->seen[i];
      seen.ranges[i] = {std::max(seen.ranges[i].first, first),
                        std::min(seen.ranges[i].second, end)};
    }
  }
  // A window of causal additive attention: each token pools only the last `width` tokens.
  const auto window = choice.parameters.find("window");
  const auto* const width =
      window == choice.parameters.end() ? nullptr : std::get_if<std::int64_t>(&window->second);
  for (std::int64_t i = 0; width && *width > 0 && i < std::ssize(seen.ranges); ++i) {
    std::int64_t& first = seen.ranges[static_cast<std::size_t>(i)].first;
    first = std::max(first, i + 1 - *width);
  }
  return seen;
}

}  // namespace

std::vector<std::shared_ptr<const Mechanism>> layer_mechanisms(const ModelSpec& spec,
                                                               const MechanismChoice& asked) {
  const std::shared_ptr<const Mechanism> everywhere = make_mechanism(asked);
  std::vector<std::shared_ptr<const Mechanism>> list(static_cast<std::size_t>(spec.layers),
                                                     everywhere);
  const bool uniform = spec.layer_mechanisms.empty() && spec.multiplicative_layers.empty() &&
                       spec.tail.kind != Tail::class_attention;
  if (uniform || asked.name != spec.mechanism.name) return list;
  const MechanismChoice whole = choice_over_tokens(spec.mechanism, spec.has_grid());
  const bool trained = everywhere->choice() == make_mechanism(whole)->choice();
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const MechanismChoice& own = mechanism_of(spec, layer);
    if (trained || own.name != asked.name) {
      list[static_cast<std::size_t>(layer)] = make_mechanism(own);
    }
  }
  return list;
}

void KeyValueCache::append(const Tensor& keys, const Tensor& values) {
  const std::int64_t needed = tokens_ + keys.extent(0);
  if (needed > keys_.rows()) {
    const std::int64_t room = std::max<std::int64_t>(needed, 2 * keys_.rows());
    keys_.conservativeResize(room, keys.extent(1));
    values_.conservativeResize(room, values.extent(1));
  }
  keys_.middleRows(tokens_, keys.extent(0)) = keys.matrix();
  values_.middleRows(tokens_, values.extent(0)) = values.matrix();
  tokens_ = needed;
}

void offer(const LayerRun& run, LayerRows of, Tensor& rows) {
  if (run.request.change_rows) run.request.change_rows(of, run.layer, rows.matrix());
}

void check_requested_layers(const TraceRequest& request, const ModelSpec& spec) {
  for (const std::int64_t layer : request.layers) {
    if (layer >= 0 && layer < spec.layers) continue;
    throw Error(ErrorKind::usage, "the model has no such layer")
        .expected("0 to " + std::to_string(spec.layers - 1))
        .found(std::to_string(layer));
  }
}

bool wants_layer(const TraceRequest& request, std::int64_t layer) {
  return request.layers.empty() ||
         std::find(request.layers.begin(), request.layers.end(), layer) != request.layers.end();
}

TraceRequest with_room_for_maps(TraceRequest request, const std::vector<std::int64_t>& entries,
                                bool computable) {
  using enum TraceRequest::LargeMaps;
  const auto wanted = std::exchange(request.large_maps, refused);
  if (!request.implied_maps) return request;
  double bytes = 0, all = 0, allowed = static_cast<double>(request.most_map_bytes);
  std::string fitting;
  for (std::size_t layer = 0; layer < entries.size(); ++layer) {
    const double own = 4.0 * static_cast<double>(entries[layer]);
    if (own <= allowed && fitting.empty()) fitting = std::to_string(layer);
    if (!wants_layer(request, static_cast<std::int64_t>(layer))) continue;
    all += own;
    bytes = request.layer_recorded ? std::max(bytes, own) : all;
  }
  const bool may_compute =
      wanted != refused && computable && !request.change_map && !request.change_rows;
  if (may_compute && all > std::min(allowed, kMostHeld)) {
    request.large_maps = computed;
    if (wanted == computed_alone && all > allowed)
      request.queries_keys_values = request.tokens = false;
    return request;
  }
  if (bytes <= allowed) return request;
  const auto gigabytes = [](double count) {
    const auto tenths = static_cast<std::int64_t>(count / (1 << 30) * 10);
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
  };
  throw Error(ErrorKind::usage, "the maps of the layers asked for are too large to keep")
      .expected("at most " + gigabytes(allowed))
      .found(gigabytes(bytes))
      .remedy(fitting.empty()
                  ? "take a smaller input: no single layer fits"
                  : "ask for single layers, such as " + fitting + ", or take a smaller input");
}

NamedTensors layer_parameters(const NamedTensors& own, const TraceRequest& request,
                              std::int64_t layer) {
  const auto index = static_cast<std::size_t>(layer);
  if (!request.parameters || index >= request.parameters->size()) return own;
  NamedTensors parameters = (*request.parameters)[index];
  parameters.insert(own.begin(), own.end());
  return parameters;
}

Tensor by_head(ConstMatrixMap rows, std::int64_t heads) {
  if (rows.cols() % heads != 0) heads = 1;
  const std::int64_t each = rows.cols() / heads;
  Tensor result = Tensor::unfilled({heads, rows.rows(), each});
  for (std::int64_t head = 0; head < heads; ++head) {
    result.slice(head) = rows.middleCols(head * each, each);
  }
  return result;
}

void record_vectors(const Tensor& queries, const Tensor& keys, const Tensor& values,
                    std::int64_t heads, std::int64_t key_heads, const TraceRequest& request,
                    LayerTrace& layer) {
  if (!request.queries_keys_values) return;
  layer.queries = by_head(queries.matrix(), heads);
  layer.keys = by_head(keys.matrix(), key_heads);
  layer.values = by_head(values.matrix(), key_heads);
}

void record_scores(const Mechanism& mechanism, const AttentionInput& input, LayerTrace& layer) {
  const MechanismChoice choice = mechanism.choice();
  layer.seen = seen_keys_of(choice, input);
  if (find_mechanism(choice.name).scaled) layer.score_scale = input.score_scale();
}

Tensor attend(const LayerRun& run, const AttentionInput& input) {
  const Mechanism& mechanism = run.mechanism;
  if (!run.recorded) return mechanism.forward(input);
  const TraceRequest& request = run.request;
  LayerTrace& layer = *run.recorded;
  // Causal masking makes a product of low rank triangular; then only its size bounds the rank.
  layer.rank_bound = input.causal ? std::min(input.queries.rows(), input.keys.rows())
                                  : mechanism.structure(input.shape()).rank_bound;
  record_scores(mechanism, input, layer);
  if (request.factors) layer.factors = mechanism.factors(input);
  if (layer.factors) layer.rank_bound = std::min(layer.rank_bound, layer.factors->left.extent(2));
  if (request.quantities) layer.quantities = mechanism.quantities(input);
  if (request.implied_maps && request.large_maps == TraceRequest::LargeMaps::refused) {
    Attended both = mechanism.forward_with_map(input);
    layer.implied_map = std::move(both.implied_map);
    return std::move(both.output);
  }
  return mechanism.forward(input);
}

void record_mechanism(const Mechanism& mechanism, const Trace& trace, LayerTrace& layer) {
  MechanismChoice choice = mechanism.choice();
  if (choice == trace.mechanism) return;
  layer.mechanism = std::move(choice);
  layer.identity = mechanism.has_identity_mapping();
}

Trace begin_trace(const Model& model, const Input& input, const Mechanism& mechanism,
                  const MechanismChoice& trained) {
  Trace trace;
  trace.model_name = model.name();
  trace.mechanism = mechanism.choice();
  trace.identity_in_maps = mechanism.has_identity_mapping();
  trace.mechanism_trained = mechanism.choice() == make_mechanism(trained)->choice();
  trace.input_label = input.label;
  trace.provenance = {{"program", "attnscope " ATTNSCOPE_VERSION},
                      {"model_file", model.file().string()},
                      {"architecture", model.architecture()},
                      {"mechanism", to_string(trace.mechanism)},
                      {"input", input.locator}};
  const ModelSpec& spec = model.spec();
  if (spec.layer.scores.scale != ScoreScale{} || spec.layer.scores.scale_by_layer) {
    trace.provenance["scale of scores"] =
        option_text(spec, "scale") + (spec.layer.scores.scale_by_layer ? " / (layer + 1)" : "");
  }
  for (const Assumption& assumption : model.assumptions()) {
    if (assumption.stated) trace.provenance["stated " + assumption.option] = assumption.value;
  }
  record_status(model.status(), trace.provenance);
  return trace;
}

}  // namespace attnscope
