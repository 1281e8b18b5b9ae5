#include "core/model/parts/block.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope {

namespace {

/// tokens += scale ⊙ part; an empty scale is 1.
void add_residual(Tensor& tokens, const Tensor& part, const std::vector<float>& scale) {
  if (scale.empty()) {
    tokens.matrix() += part.matrix();
    return;
  }
  const Eigen::Map<const Eigen::RowVectorXf> factors(scale.data(),
                                                     static_cast<Eigen::Index>(scale.size()));
  tokens.matrix().array() += part.matrix().array().rowwise() * factors.array();
}

/// The input of a part: `tokens` without a norm, otherwise their normalised copy in `room`.
const Tensor& normed(const std::optional<LayerNorm>& norm, const Tensor& tokens, Tensor& room) {
  if (!norm) return tokens;
  room = tokens;
  norm->apply(room.matrix());
  return room;
}

/// Multiplies tokens by α of α·x + f(x), before f(x) is added.
void scale_residual(const LayerSpec& layer, MatrixMap tokens) {
  if (layer.residual_scale != 1) tokens *= static_cast<float>(layer.residual_scale);
}

/// Runs one part with its norms and its residual; its output is offered as `of`. `compute` receives
/// its input and the buffer that holds it if there is a norm; it may empty the buffer after reading
/// the input.
void run_branch(const LayerSpec& layer, const LayerRun& run, LayerRows of, const BranchNorms& norms,
                const std::vector<float>& scale, Tensor& tokens, const auto& compute) {
  Tensor room;
  Tensor part = compute(normed(norms.before, tokens, room), room);
  if (norms.inside) norms.inside->apply(part.matrix());
  offer(run, of, part);
  if (layer.residual == Residual::none) {
    tokens = std::move(part);
  } else {
    scale_residual(layer, tokens.matrix());
    add_residual(tokens, part, scale);
  }
  if (norms.after) norms.after->apply(tokens.matrix());
}

/// Quantities that the layer records; null if it records none.
NamedTensors* quantities_of(const LayerRun& run) {
  return run.recorded && run.request.quantities ? &run.recorded->quantities : nullptr;
}

void add_local(const std::optional<DepthwiseConvolution>& local, const GridExtents& grid,
               Tensor& tokens) {
  if (local) tokens.matrix() += (*local)(tokens, grid).matrix();
}

/// Runs attention and MLP on the same tokens, each with its own norm or both with the attention's.
void run_parallel(const Block& block, const LayerRun& run, const GridExtents& grid,
                  Tensor& tokens) {
  Tensor room1, room2;
  const Tensor& first = normed(block.attention_norms.before, tokens, room1);
  Tensor attended = attend(block.attention, block.spec, run, first);
  offer(run, LayerRows::attention, attended);
  if (block.has_mlp()) {
    const Tensor& second =
        block.mlp_norms.before ? normed(block.mlp_norms.before, tokens, room2) : first;
    Tensor hidden = block.feed_forward(seen(second), grid, quantities_of(run));
    offer(run, LayerRows::mlp, hidden);
    scale_residual(block.spec, tokens.matrix());
    add_residual(tokens, attended, block.scale1);
    add_residual(tokens, hidden, block.scale2);
  } else {
    scale_residual(block.spec, tokens.matrix());
    add_residual(tokens, attended, block.scale1);
  }
}

/// Runs class attention: only the first token, the class token, is a query and changes (CaiT).
void run_class_attention(const Block& block, const LayerRun& run, Tensor& tokens) {
  Tensor first({1, tokens.extent(1)}), room;
  first.matrix() = tokens.matrix().topRows(1);
  Tensor attended =
      attend(block.attention, block.spec, run, normed(block.attention_norms.before, tokens, room));
  offer(run, LayerRows::attention, attended);
  scale_residual(block.spec, first.matrix());
  add_residual(first, attended, block.scale1);
  if (block.mlp) {
    run_branch(block.spec, run, LayerRows::mlp, block.mlp_norms, block.scale2, first,
               [&](const Tensor& x, Tensor&) { return (*block.mlp)(x.matrix(), {}); });
  }
  tokens.matrix().topRows(1) = first.matrix();
}

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

void run_block(const Block& block, LayerRun run, Tensor& tokens) {
  run.score_scale = block.score_scale;
  const GridExtents grid{run.layout.rows, run.layout.columns};
  if (block.spec.attention.of == Attending::class_token) {
    run_class_attention(block, run, tokens);
    return;
  }
  if (block.spec.residual == Residual::parallel) {
    run_parallel(block, run, grid, tokens);
    return;
  }
  add_local(block.local1, grid, tokens);
  if (block.spec.form == LayerForm::transformer) {
    run_branch(block.spec, run, LayerRows::attention, block.attention_norms, block.scale1, tokens,
               [&](const Tensor& x, Tensor& own) {
                 return attend(block.attention, block.spec, run, x, &own);
               });
  } else {
    run_fastformer_attention(block, run, tokens);
  }
  add_local(block.local2, grid, tokens);
  if (!block.has_mlp()) return;
  run_branch(block.spec, run, LayerRows::mlp, block.mlp_norms, block.scale2, tokens,
             [&](const Tensor& x, Tensor&) {
               return block.feed_forward(x.matrix(), grid, quantities_of(run));
             });
}

Tensor Block::feed_forward(ConstMatrixMap tokens, const GridExtents& grid,
                           NamedTensors* recorded) const {
  return experts ? (*experts)(tokens, recorded) : (*mlp)(tokens, grid);
}

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
