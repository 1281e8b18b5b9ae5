#include "analysis/matrix/stacked_matrices.h"

#include <algorithm>
#include <limits>

#include "analysis/matrix/analysed_matrix.h"
#include "analysis/spectrum/map_batch.h"
#include "analysis/spectrum/map_entries.h"
#include "core/error.h"
#include "core/tensor/decompose.h"

namespace attnscope {

namespace {

/// Number of query heads that share the recorded matrix of one; 1 for matrices of query heads.
std::int64_t sharing_heads(const Trace& trace, std::int64_t layer, MatrixKind of) {
  if (rows_of(of) != Extent::keys) return 1;
  const LayerTrace& own = trace.layers[static_cast<std::size_t>(layer)];
  const Tensor& vectors = of == MatrixKind::values ? own.values : own.keys;
  const std::int64_t heads = trace.heads(layer);
  return fit_heads(vectors, heads, trace.keys(layer)) ? heads / vectors.extent(0) : 1;
}

}  // namespace

StackedMatrices::StackedMatrices(const MatrixChoice& analysed) : analysed_(analysed) {
  check_added(analysed);
  check_view(analysed);
  if (columns_of(analysed.of) == Extent::channels) return;
  throw Error(ErrorKind::usage, "only matrices with a column per channel can be stacked")
      .about(in_words(analysed))
      .expected("queries, keys, values, outputs or tokens")
      .remedy("leave --stacked out: the table then has the mean over the inputs");
}

void StackedMatrices::add(const Subject& subject, const std::vector<std::int64_t>& layers) {
  const Trace& trace = *subject.trace;
  std::vector<MapIndex> places = places_of(trace, analysed_, layers);
  std::erase_if(places, [&](const MapIndex& place) {
    return place.head % sharing_heads(trace, place.layer, analysed_.of) != 0;
  });
  std::vector<Sum*> sums;
  for (const MapIndex& place : places) {
    const std::int64_t sharing = sharing_heads(trace, place.layer, analysed_.of);
    const std::int64_t head = place.head < 0 ? place.head : place.head / sharing;
    sums.push_back(&sums_[{place.layer, head}]);
  }
  MatrixChoice each = analysed_;
  each.centred = false;
  for_each_map(trace, places, {}, [&](std::size_t index) {
    const AnalysedMatrix found = analysed_matrix(subject, places[index], each);
    sums[index]->identity = found.identity;
    add_rows(found.matrix, *sums[index]);
    return [] {};
  });
}

void StackedMatrices::add_rows(const MatrixD& rows, Sum& sum) const {
  if (sum.gram.size() == 0) {
    sum.gram = MatrixD::Zero(rows.cols(), rows.cols());
    sum.total = sum.origin = Eigen::RowVectorXd::Zero(rows.cols());
    if (analysed_.centred && rows.row(0).allFinite()) sum.origin = rows.row(0);
  }
  const MapEntries entries = entries_of(rows);
  sum.not_finite += entries.not_finite;
  sum.zero_rows += entries.zero_rows;
  sum.rows += rows.rows();
  if (sum.not_finite > 0) return;
  const MatrixD moved = rows.rowwise() - sum.origin;
  sum.gram += moved.transpose() * moved;
  sum.total += moved.colwise().sum();
}

std::vector<MapSpectrum> StackedMatrices::spectra(const RankThreshold& threshold) const {
  check_threshold(threshold);
  std::vector<MapSpectrum> spectra;
  for (const auto& [place, sum] : sums_) {
    MapSpectrum& spectrum = spectra.emplace_back();
    spectrum.layer = place.first;
    spectrum.head = place.second;
    spectrum.identity = sum.identity;
    spectrum.threshold = threshold;
    spectrum.tokens = std::max(sum.rows, static_cast<std::int64_t>(sum.gram.cols()));
    spectrum.zero_rows = sum.zero_rows;
    spectrum.not_finite_entries = sum.not_finite;
    spectrum.symmetry_error = std::numeric_limits<double>::quiet_NaN();
    MatrixD gram = sum.gram;
    if (analysed_.centred)
      gram -= sum.total.transpose() * sum.total / static_cast<double>(sum.rows);
    if (sum.not_finite > 0) {
      spectrum.state = SpectrumState::not_finite;
      continue;
    }
    if (gram.isZero(0)) {
      spectrum.state = SpectrumState::zero;
      continue;
    }
    Eigen::VectorXd values = symmetric_eigenpairs(gram).values.reverse().cwiseMax(0).cwiseSqrt();
    values.conservativeResize(std::min<Eigen::Index>(values.size(), sum.rows));
    const bool converged = values.allFinite();
    set_singular_values({{values.begin(), values.end()}, converged}, kFloatEpsilon, spectrum);
  }
  return spectra;
}

}  // namespace attnscope
