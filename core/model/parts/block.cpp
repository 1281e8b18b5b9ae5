#include "core/model/parts/block.h"

#include <utility>

#include "core/model/parts/fastformer.h"

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

/// Runs one part with its norms and its residual. `compute` receives its input and the buffer that
/// holds it if there is a norm; it may empty the buffer after reading the input.
void run_branch(const LayerSpec& layer, const BranchNorms& norms, const std::vector<float>& scale,
                Tensor& tokens, const auto& compute) {
  Tensor room;
  Tensor part = compute(normed(norms.before, tokens, room), room);
  if (norms.inside) norms.inside->apply(part.matrix());
  if (layer.residual == Residual::none) {
    tokens = std::move(part);
  } else {
    scale_residual(layer, tokens.matrix());
    add_residual(tokens, part, scale);
  }
  if (norms.after) norms.after->apply(tokens.matrix());
}

/// Runs attention and MLP on the same tokens, each with its own norm or both with the attention's.
void run_parallel(const Block& block, const LayerRun& run, const GridExtents& grid,
                  Tensor& tokens) {
  Tensor room1, room2;
  const Tensor& first = normed(block.attention_norms.before, tokens, room1);
  const Tensor attended = attend(block.attention, block.spec, run, first);
  if (block.mlp) {
    const Tensor& second =
        block.mlp_norms.before ? normed(block.mlp_norms.before, tokens, room2) : first;
    const Tensor hidden = (*block.mlp)(std::as_const(second).matrix(), grid);
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
  const Tensor attended =
      attend(block.attention, block.spec, run, normed(block.attention_norms.before, tokens, room));
  scale_residual(block.spec, first.matrix());
  add_residual(first, attended, block.scale1);
  if (block.mlp) {
    run_branch(block.spec, block.mlp_norms, block.scale2, first,
               [&](const Tensor& x, Tensor&) { return (*block.mlp)(x.matrix(), {}); });
  }
  tokens.matrix().topRows(1) = first.matrix();
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
  if (block.spec.form == LayerForm::transformer) {
    run_branch(block.spec, block.attention_norms, block.scale1, tokens,
               [&](const Tensor& x, Tensor& own) {
                 return attend(block.attention, block.spec, run, x, &own);
               });
  } else {
    run_fastformer_attention(block, run, tokens);
  }
  if (!block.mlp) return;
  run_branch(block.spec, block.mlp_norms, block.scale2, tokens,
             [&](const Tensor& x, Tensor&) { return (*block.mlp)(x.matrix(), grid); });
}

}  // namespace attnscope
