#include "analysis/mixing/value_zeroing.h"

#include <atomic>
#include <tbb/parallel_for.h>

#include "analysis/mixing/layer_inside.h"
#include "core/error.h"
#include "core/model/layer_run.h"

namespace attnscope {

namespace {

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
