#include "core/model/parts/fastformer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope {

namespace {

/// Output of the heads. Of the two poolings, only the map of the first is recorded.
Tensor attend_and_record(const LayerRun& run, const AttentionInput& input,
                         const std::string& which) {
  LayerTrace& recorded = *run.recorded;
  NamedTensors both = std::move(recorded.quantities);
  Tensor output = which == "query" ? attend(run, input) : run.mechanism.forward(input);
  recorded.quantities = std::move(both);
  // Additive attention always records its quantities, which are one number per token, so that the
  // importance is known for any end of the text.
  const bool kept = run.request.quantities || run.mechanism.choice().name == "additive";
  if (!kept) return output;
  for (auto& [name, tensor] : run.mechanism.quantities(input)) {
    recorded.quantities.insert_or_assign(which + "_" + name, tensor);
  }
  return output;
}

/// Applies `run.mechanism` to the rows of `pooled` [N, H·d]. Additive attention weighs them by the
/// layer's parameter "{which}_importance" and, if present, "{which}_importance_bias". Other
/// mechanisms use `asking` [N, H·d], which the result is later multiplied with, as queries. `which`
/// is "query" or "key".
Tensor pool(const LayerSpec& layer, const LayerRun& run, const Tensor& asking, const Tensor& pooled,
            const std::string& which) {
  NamedTensors parameters = run.parameters;
  for (const char* name : {"importance", "importance_bias"}) {
    const auto own = parameters.find(which + "_" + name);
    if (own != parameters.end()) parameters.insert_or_assign(name, own->second);
  }
  const AttentionInput input{.queries = asking.matrix(),
                             .keys = pooled.matrix(),
                             .values = pooled.matrix(),
                             .heads = layer.attention.heads,
                             .parameters = &parameters,
                             .layout = &run.layout,
                             .causal = layer.scores.causal,
                             .layer = run.layer,
                             .channel = run.request.channel};
  return run.recorded ? attend_and_record(run, input, which) : run.mechanism.forward(input);
}

void record(const LayerRun& run, const Tensor& queries, const Tensor& keys, const Tensor& values,
            std::int64_t heads) {
  if (!run.recorded) return;
  run.recorded->layout = run.recorded->key_layout = run.layout;
  if (!run.request.queries_keys_values) return;
  run.recorded->queries = by_head(seen(queries), heads);
  run.recorded->keys = by_head(seen(keys), heads);
  run.recorded->values = by_head(seen(values), heads);
}

Tensor projected(const AttentionPart& part, Tensor x) {
  return part.out ? (*part.out)(seen(x)) : std::move(x);
}

/// x = norm(x + out(transform(k̄ ⊙ V) + Q)), with q̄ = Σ α Q, P = q̄ ⊙ K, k̄ = Σ β P.
void run_encoder(const Block& block, const LayerRun& run, Tensor& x) {
  const AttentionPart& part = block.attention;
  const Tensor queries = part.query(seen(x)), keys = (*part.key)(seen(x)),
               values = part.value(seen(x));
  record(run, queries, keys, values, block.spec.attention.heads);
  Tensor mixed = pool(block.spec, run, keys, queries, "query");
  mixed.matrix().array() *= seen(keys).array();
  Tensor product = pool(block.spec, run, values, mixed, "key");
  product.matrix().array() *= seen(values).array();
  Tensor output = (*block.transform)(seen(product));
  output.matrix() += seen(queries);
  x.matrix() += projected(part, std::move(output)).matrix();
  if (block.attention_norms.after) block.attention_norms.after->apply(x.matrix());
}

void run_decoder(const Block& block, const LayerRun& run, Tensor& x) {
  const AttentionPart& part = block.attention;
  const std::int64_t heads = block.spec.attention.heads;
  const bool rescaled = block.spec.form == LayerForm::fastformer_rescaled;
  Tensor normed = x;
  if (block.attention_norms.before) block.attention_norms.before->apply(normed.matrix());
  Tensor queries = part.query(seen(normed));
  const Tensor keys = (*part.key)(seen(normed)), values = part.value(seen(normed));
  if (rescaled) rescale_heads(queries.matrix(), heads);
  record(run, queries, keys, values, heads);
  Tensor mixed = projected(part, pool(block.spec, run, keys, queries, "query"));
  mixed.matrix().array() *= seen(keys).array();
  if (rescaled) {
    rescale_heads(mixed.matrix(), heads);
    const Tensor second = pool(block.spec, run, values, mixed, "key");
    x.matrix().array() += seen(second).array() * seen(values).array();
    return;
  }
  mixed.matrix() += normed.matrix();
  Tensor between = mixed;
  block.middle_norm->apply(between.matrix());
  const Tensor second = pool(block.spec, run, values, between, "key");
  // The residual adds the normalised tokens: no unnormalised path bypasses the attention.
  x = std::move(mixed);
  x.matrix().array() += seen(second).array() * seen(values).array();
}

}  // namespace

void rescale_heads(MatrixMap x, std::int64_t heads) {
  const Eigen::Index width = x.cols() / heads;
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    for (Eigen::Index first = 0; first < x.cols(); first += width) {
      const Eigen::RowVectorXd part = x.row(row).segment(first, width).cast<double>();
      const Eigen::RowVectorXd centred = part.array() - part.mean();
      const auto count = static_cast<double>(std::max<Eigen::Index>(width - 1, 1));
      const double deviation = std::sqrt(centred.squaredNorm() / count);
      x.row(row).segment(first, width) = (centred / (deviation + 1e-5)).cast<float>();
    }
  }
}

void run_fastformer_attention(const Block& block, const LayerRun& run, Tensor& x) {
  if (run.request.change_map) {
    throw Error(
        ErrorKind::usage,
        "the maps of Fastformer's layers cannot be changed: each is a product of two attentions")
        .expected("a model with other layers");
  }
  if (block.spec.form == LayerForm::fastformer_encoder) {
    run_encoder(block, run, x);
  } else {
    run_decoder(block, run, x);
  }
}

}  // namespace attnscope
