#include "analysis/mixing/mixing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tbb/parallel_for.h>

#include "analysis/mixing/layer_inside.h"
#include "core/error.h"
#include "core/model/layer_run.h"

namespace attnscope {

namespace {

/// Tokens in float, the input type of model parts.
Tensor as_tensor(const MatrixD& rows) {
  Tensor tensor({rows.rows(), rows.cols()});
  tensor.matrix() = rows.cast<float>();
  return tensor;
}

/// Contributions F_i(j) of one layer's attention with residual and norms.
class BlockMixing {
 public:
  BlockMixing(const Subject& subject, std::int64_t layer, Mixing mixing)
      : inside_(subject, layer), with_block_(mixing != Mixing::norms) {
    if (!with_block_) return;
    MatrixD sum = inside_.attended();
    sum += inside_.residual() * inside_.before();
    output_ = sum;
    const BranchNorms& norms = inside_.block().attention_norms;
    if (norms.after) {
      first_.emplace(*norms.after, sum);
      output_ = first_->apply(sum);
      output_.rowwise() += first_->bias();
    }
    if (mixing == Mixing::globenc) add_second_norm();
  }

  [[nodiscard]] Eigen::Index tokens() const { return inside_.tokens(); }
  [[nodiscard]] const LayerInside& inside() const { return inside_; }
  /// y_i of every token after the norm, [N, D].
  [[nodiscard]] const MatrixD& output() const { return output_; }

  /// F_i(j) for every j, [N, D].
  [[nodiscard]] MatrixD contributions(Eigen::Index i) const {
    MatrixD all = MatrixD::Zero(tokens(), inside_.before().cols());
    for (std::int64_t head = 0; head < inside_.heads(); ++head) {
      all += inside_.map(head).row(i).transpose().asDiagonal() * inside_.given(head);
    }
    if (!with_block_) return all;
    all.row(i) += inside_.residual() * inside_.before().row(i);
    for (const std::optional<FrozenNorm>* norm : {&first_, &second_}) {
      if (!*norm) continue;
      for (Eigen::Index j = 0; j < all.rows(); ++j) {
        all.row(j) = (*norm)->apply(Eigen::RowVectorXd(all.row(j)), i);
      }
    }
    return all;
  }

 private:
  /// Adds the norm after the MLP, with the statistics of its input.
  void add_second_norm() {
    const Block& block = inside_.block();
    if (!block.has_mlp() || !block.mlp_norms.after) return;
    const GridExtents grid{inside_.layout().rows, inside_.layout().columns};
    const Tensor tokens = as_tensor(output_);
    Tensor hidden = block.feed_forward(tokens.matrix(), grid);
    MatrixD sum = hidden.matrix().cast<double>();
    if (!block.scale2.empty()) {
      sum.array().rowwise() *= Eigen::Map<const Eigen::RowVectorXf>(block.scale2.data(), sum.cols())
                                   .cast<double>()
                                   .array();
    }
    sum += inside_.residual() * output_;
    second_.emplace(*block.mlp_norms.after, sum);
  }

  LayerInside inside_;
  bool with_block_;
  MatrixD output_;
  std::optional<FrozenNorm> first_, second_;
};

MatrixD head_norms(const LayerInside& inside, std::int64_t head) {
  if (head < 0 || head >= inside.heads()) {
    throw Error(ErrorKind::usage, "the layer has no such head")
        .expected("0 to " + std::to_string(inside.heads() - 1))
        .found(std::to_string(head));
  }
  const Eigen::VectorXd norms = inside.given(head).rowwise().norm();
  return inside.map(head).cwiseAbs() * norms.asDiagonal();
}

/// Runs one layer separately on its recorded input tokens.
class OneLayer {
 public:
  OneLayer(const Subject& subject, std::int64_t layer)
      : layer_(layer), before_(tokens_before(subject, layer).cast<float>()) {
    const Transformer& model = transformer_of(*subject.model);
    block_ = &block_of(model, layer);
    const Trace& trace = *subject.trace;
    recorded_ = &trace.layers[static_cast<std::size_t>(layer)];
    mechanism_ = layer_mechanisms(model.spec(), trace.mechanism)[static_cast<std::size_t>(layer)];
    request_.implied_maps = false;
    request_.parameters = subject.parameters;
    if (block_->spec.attention.of != Attending::self) {
      throw Error(ErrorKind::usage, "value zeroing needs self-attention")
          .about("layer " + std::to_string(layer))
          .expected("a layer that attends to its own tokens");
    }
  }

  /// Tokens after the layer, without the values of key `zeroed` unless that is negative.
  [[nodiscard]] MatrixD run(Eigen::Index zeroed) const {
    TraceRequest request = request_;
    if (zeroed >= 0) {
      // A zero column of the map removes that key's values from the output.
      request.change_map = [zeroed](std::int64_t, std::int64_t, MatrixMap map) {
        map.col(zeroed).setZero();
      };
    }
    Tensor tokens({before_.rows(), before_.cols()});
    tokens.matrix() = before_;
    const LayerRun run{.mechanism = *mechanism_,
                       .request = request,
                       .layout = recorded_->layout,
                       .parameters = layer_parameters(block_->attention.mechanism, request, layer_),
                       .layer = layer_};
    run_block(*block_, run, tokens);
    return tokens.matrix().cast<double>();
  }

  /// Throws Error(usage) if the recorded output needs more than the block, such as a convolution.
  void check(const MatrixD& after) const {
    const MatrixD recorded = recorded_->tokens.matrix().cast<double>();
    const bool same = recorded.rows() == after.rows() && recorded.cols() == after.cols() &&
                      (recorded - after).norm() <= 1e-4 * recorded.norm();
    if (same) return;
    throw Error(ErrorKind::usage,
                "the layer, run by itself, does not reproduce the recorded tokens")
        .about("layer " + std::to_string(layer_))
        .expected("a layer without a convolution after it");
  }

  [[nodiscard]] Eigen::Index keys() const {
    return block_->attention.reduction
               ? block_->attention.reduction
                     ->output_grid({recorded_->layout.rows, recorded_->layout.columns})
                     .tokens()
               : before_.rows();
  }

 private:
  std::int64_t layer_;
  Matrix before_;
  const Block* block_ = nullptr;
  const LayerTrace* recorded_ = nullptr;
  std::shared_ptr<const Mechanism> mechanism_;
  TraceRequest request_;
};

}  // namespace

std::string_view formula_of(Mixing mixing) {
  switch (mixing) {
    case Mixing::head_norms:
      return "|a_ij| ‖f(x_j)‖, f(x_j) = v_j W_O of the head";
    case Mixing::norms:
      return "‖Σ_h a_ij f_h(x_j)‖, f_h(x_j) = v_j W_O of head h";
    case Mixing::block_norms:
      return "‖F_i(j)‖, F_i(j) = Σ_h a_ij f_h(x_j) + [i = j] α x_i, α the residual's scale, "
             "through the norm of the sum where there is one";
    case Mixing::globenc:
      return "‖F_i(j)‖, F_i(j) = Σ_h a_ij f_h(x_j) + [i = j] α x_i, α the residual's scale, "
             "through the norms of the sums after attention and MLP where there are any";
    case Mixing::alti:
      return "max(0, ‖y_i‖₁ − ‖y_i − F_i(j)‖₁), y_i = Σ_j F_i(j) + bias";
  }
  return {};
}

void request_for_mixing(TraceRequest& request) {
  request.implied_maps = request.queries_keys_values = request.tokens = true;
}

MatrixD mixing_of(const Subject& subject, std::int64_t layer, Mixing mixing, std::int64_t head) {
  if (mixing == Mixing::head_norms) return head_norms(LayerInside(subject, layer), head);
  const BlockMixing block(subject, layer, mixing);
  MatrixD result(block.tokens(), block.tokens());
  tbb::parallel_for(Eigen::Index{0}, block.tokens(), [&](Eigen::Index i) {
    const MatrixD all = block.contributions(i);
    if (mixing != Mixing::alti) {
      result.row(i) = all.rowwise().norm().transpose();
      return;
    }
    const Eigen::RowVectorXd output = block.output().row(i);
    const double whole = output.cwiseAbs().sum();
    for (Eigen::Index j = 0; j < all.rows(); ++j) {
      result(i, j) = std::max(0.0, whole - (output - all.row(j)).cwiseAbs().sum());
    }
  });
  return result;
}

std::vector<double> mixing_ratios(const Subject& subject, std::int64_t layer) {
  const BlockMixing block(subject, layer, Mixing::block_norms);
  std::vector<double> ratios;
  for (Eigen::Index i = 0; i < block.tokens(); ++i) {
    const MatrixD all = block.contributions(i);
    const double own = all.row(i).norm();
    const double others = (all.colwise().sum() - all.row(i)).norm();
    ratios.push_back(others / (others + own));
  }
  return ratios;
}

Tensor mixing_rollout(const Subject& subject, Mixing mixing, std::int64_t layers,
                      const Progress& progress) {
  if (mixing == Mixing::head_norms || mixing == Mixing::norms) {
    throw Error(ErrorKind::usage, "rollout needs a measure that includes the residual")
        .about(std::string(name_of(mixing_names, mixing)))
        .expected("block-norms, globenc or alti");
  }
  require_model_and_trace(subject);
  const std::int64_t all = std::ssize(subject.trace->layers);
  const std::int64_t count = layers > 0 ? layers : all;
  if (count > all) {
    throw Error(ErrorKind::usage, "rollout reaches beyond the last layer")
        .expected("1 to " + std::to_string(all))
        .found(std::to_string(count));
  }
  MatrixD reach;
  for (std::int64_t layer = 0; layer < count; ++layer) {
    progress.step(static_cast<double>(layer) / static_cast<double>(count), "rollout");
    MatrixD mix = mixing_of(subject, layer, mixing);
    for (Eigen::Index row = 0; row < mix.rows(); ++row) {
      const double sum = mix.row(row).sum();
      if (std::isfinite(sum) && sum > 0) {
        mix.row(row) /= sum;
      } else {
        // No known contribution: the token keeps only itself.
        mix.row(row).setZero();
        mix(row, row) = 1;
      }
    }
    reach = layer == 0 ? mix : MatrixD(mix * reach);
  }
  Tensor result({reach.rows(), reach.cols()});
  result.matrix() = reach.cast<float>();
  return result;
}

MixingShares mixing_shares(const MatrixD& mixing) {
  Eigen::RowVectorXd keys = Eigen::RowVectorXd::Zero(mixing.cols());
  double own = 0;
  Eigen::Index counted = 0;
  for (Eigen::Index row = 0; row < mixing.rows(); ++row) {
    const double sum = mixing.row(row).sum();
    if (!std::isfinite(sum) || sum <= 0) continue;
    keys += mixing.row(row) / sum;
    own += mixing(row, row) / sum;
    ++counted;
  }
  if (counted == 0) return {};
  keys /= static_cast<double>(counted);
  return {own / static_cast<double>(counted), {keys.begin(), keys.end()}};
}

MatrixD value_zeroing(const Subject& subject, std::int64_t layer, bool normalised,
                      const Progress& progress) {
  const OneLayer one(subject, layer);
  const MatrixD whole = one.run(-1);
  one.check(whole);
  MatrixD distances(whole.rows(), one.keys());
  std::atomic<Eigen::Index> done{0};
  tbb::parallel_for(Eigen::Index{0}, distances.cols(), [&](Eigen::Index key) {
    progress.step(static_cast<double>(done) / static_cast<double>(distances.cols()),
                  "values zeroed");
    const MatrixD changed = one.run(key);
    for (Eigen::Index i = 0; i < whole.rows(); ++i) {
      const double lengths = whole.row(i).norm() * changed.row(i).norm();
      distances(i, key) = lengths > 0 ? 1 - whole.row(i).dot(changed.row(i)) / lengths : 0;
    }
    ++done;
  });
  progress.step(1, "values zeroed");
  distances = distances.cwiseMax(0);  // rounding can make distances of equal rows negative
  for (Eigen::Index i = 0; normalised && i < distances.rows(); ++i) {
    const double sum = distances.row(i).sum();
    if (sum > 0) distances.row(i) /= sum;
  }
  return distances;
}

}  // namespace attnscope
