#include "analysis/features/patch_features.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/matrix/analysed_matrix.h"
#include "core/error.h"
#include "core/tensor/decompose.h"
#include "core/trace/layer_name.h"

namespace attnscope {

namespace {

/// True if the axis must be reversed for its sign to be that of PatchAxes.
bool is_reversed(const Eigen::VectorXd& scores, const Eigen::VectorXd& axis) {
  const double moment = scores.array().cube().sum();
  // A moment below the rounding of its terms does not tell one sign from the other.
  constexpr double kRounding = 1e-10;
  if (std::abs(moment) > kRounding * scores.array().abs().cube().sum()) return moment < 0;
  Eigen::Index greatest = 0;
  axis.cwiseAbs().maxCoeff(&greatest);
  return axis(greatest) < 0;
}

}  // namespace

MatrixD patch_tokens(const Trace& trace, std::int64_t layer) {
  const Tensor& tokens = recorded_layer(trace, layer).tokens;
  const TokenLayout& layout = query_layout(trace, layer);
  const auto refuse = [&](const char* why, const char* remedy) {
    throw Error(ErrorKind::usage, why).about(layer_name(trace, layer)).remedy(remedy);
  };
  if (tokens.empty()) {
    refuse("the trace holds no tokens", "record them: attnscope trace --record tokens");
  }
  if (!layout.is_grid_of(tokens.extent(0))) {
    refuse("the tokens do not form a grid over an image", "run a model of images");
  }
  return tokens.matrix().bottomRows(layout.rows * layout.columns).cast<double>();
}

PatchAxes patch_axes(const MatrixD& patches) {
  PatchAxes found;
  found.mean = patches.colwise().mean();
  found.axes = MatrixD::Zero(3, patches.cols());
  found.deviation.setZero();
  if (!patches.allFinite()) {
    throw Error(ErrorKind::damaged, "the values must be finite").about("tokens");
  }
  MatrixD centred = patches;
  take_mean_row_away(centred);
  const double total = centred.squaredNorm();
  const SingularVectors parts = singular_vectors(centred);
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(3, parts.values.size()); ++k) {
    const double variance = parts.values(k) * parts.values(k);
    // Directions without variance come only from rounding.
    if (!(variance > total * 1e-14)) break;
    const Eigen::VectorXd axis = parts.right.col(k);
    found.axes.row(k) = is_reversed(centred * axis, axis) ? -axis : axis;
    found.deviation(k) = std::sqrt(variance / static_cast<double>(patches.rows() - 1));
    found.share[static_cast<std::size_t>(k)] = variance / total;
  }
  return found;
}

MatrixD patch_colours(const MatrixD& patches, const PatchAxes& axes) {
  if (patches.cols() != axes.mean.size()) {
    throw Error(ErrorKind::usage, "the layers have tokens of different widths, and no common axes")
        .expected(std::to_string(axes.mean.size()))
        .found(std::to_string(patches.cols()))
        .remedy("take the axes of each layer");
  }
  const MatrixD scores = (patches.rowwise() - axes.mean) * axes.axes.transpose();
  MatrixD colours = MatrixD::Constant(patches.rows(), 3, 0.5);
  for (Eigen::Index k = 0; k < 3; ++k) {
    if (!(axes.deviation(k) > 0)) continue;
    colours.col(k) = (1 + (-2 / axes.deviation(k) * scores.col(k).array()).exp()).inverse();
  }
  return colours;
}

std::vector<double> token_cosines(const MatrixD& tokens, std::int64_t token) {
  const Eigen::ArrayXd norms = tokens.rowwise().norm();
  const Eigen::ArrayXd cosines =
      (tokens * tokens.row(token).transpose()).array() / (norms * norms(token));
  return {cosines.begin(), cosines.end()};
}

}  // namespace attnscope
