#include "analysis/intervention/truncation.h"

#include <algorithm>
#include <cmath>

#include "analysis/baselines/null_model.h"
#include "analysis/spectrum/leading_vectors.h"
#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "core/model/model.h"

namespace attnscope {

namespace {

Eigen::VectorXd row_sums(const MatrixMap& map) { return map.cast<double>().rowwise().sum(); }

/// Scales rows to the sums `sums`; rows whose own sum is at most 1e-6 in magnitude stay unchanged.
void scale_rows(const Eigen::VectorXd& sums, MatrixMap map) {
  const Eigen::VectorXd own = row_sums(map);
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    if (std::abs(own(row)) > 1e-6) map.row(row) *= static_cast<float>(sums(row) / own(row));
  }
}

/// Truncation of the maps in one series.
struct Cut {
  HeadChoice where;
  bool apart = false;  ///< true to subtract I before the truncation and add it afterwards
  bool renormalise = false;
  bool causal = false;  ///< true to set later keys to 0 again after the truncation

  void apply(std::int64_t rank, std::int64_t layer, std::int64_t head, MatrixMap map) const {
    if (!where.has_layer(layer) || !where.has_head(head)) return;
    const bool square = map.rows() == map.cols();
    if (apart && square) map.diagonal().array() -= 1;
    const Eigen::VectorXd sums = row_sums(map);
    truncate_to_rank(rank, map);
    if (causal && square) hide_later_keys(map);
    if (renormalise) scale_rows(sums, map);
    if (apart && square) map.diagonal().array() += 1;
  }
};

/// Equivalent ranks of the truncated maps, with or without I as they are truncated.
RankSum ranks_of(const Trace& trace, const Cut& cut, const RankThreshold& threshold,
                 bool baselines) {
  SpectrumOptions options;
  options.threshold = threshold;
  options.layers = cut.where.layers;
  const IdentityView view = cut.apart ? IdentityView::without : IdentityView::as_is;
  RankSum ranks;
  for (const MapSpectrum& map : spectra_of(trace, view, options, {})) {
    ranks.greatest = std::max(ranks.greatest, std::ssize(map.singular_values));
    if (map.state != SpectrumState::ready || !cut.where.has_head(map.head)) continue;
    ranks.sum += static_cast<double>(map.equivalent_rank);
    ++ranks.maps;
    if (!baselines) continue;
    MeanNullRank null;
    null.add(map, null_ranks_at(trace, {map.layer, map.head}, {.identity = view}, options));
    ranks.null_sum += null.rank_sum;
    ranks.ratio_sum += null.ratio_sum;
    ranks.null_maps += null.maps;
  }
  return ranks;
}

void check_request(const Subject& subject, const TruncationRequest& request, bool has_identity) {
  const ModelSpec& spec = subject.model->spec();
  check_choice(request.where, spec.layers, spec.layer.attention.heads, "--");
  for (const std::int64_t rank : request.ranks) {
    if (rank >= 1) continue;
    throw Error(ErrorKind::usage, "a rank must be at least 1")
        .about("--ranks")
        .expected("1 or more")
        .found(std::to_string(rank));
  }
  const bool apart =
      std::ranges::find(request.cuts, TruncatedMap::without_identity) != request.cuts.end();
  if (apart || has_identity) return;
  throw Error(ErrorKind::usage, "the maps of this attention contain no I")
      .about(subject.mechanism.name)
      .expected("--cut without-identity")
      .remedy("adder attention has it: MODEL@adder,identity=true");
}

SeriesRequest series_of(const Subject& subject, const std::vector<std::int64_t>& ranks,
                        const Cut& cut, const TruncationRequest& request) {
  SeriesRequest series;
  series.subject = subject;
  series.label = subject.label;
  for (const std::int64_t rank : ranks) {
    series.interventions.push_back(
        {.name = "rank " + std::to_string(rank),
         .rank = rank,
         .needs = {},
         .change = [cut, rank](const Subject&, const std::shared_ptr<const Trace>&) -> MapChange {
           return [cut, rank](std::int64_t layer, std::int64_t head, MatrixMap map) {
             cut.apply(rank, layer, head, map);
           };
         }});
  }
  series.null_ranks = request.baselines;
  series.ranks = [cut, threshold = request.threshold, baselines = request.baselines](
                     const Trace& trace) { return ranks_of(trace, cut, threshold, baselines); };
  return series;
}

}  // namespace

void truncate_to_rank(std::int64_t rank, MatrixMap map) {
  if (rank >= std::min(map.rows(), map.cols())) return;
  // Projection onto the leading vectors of the shorter side gives the truncated map.
  const MatrixD exact = map.cast<double>();
  const Eigen::MatrixXd first = leading_vectors(exact, rank);
  if (!first.allFinite()) {
    throw Error(ErrorKind::unsupported, "the singular vectors of a map did not converge");
  }
  map = (map.rows() >= map.cols() ? MatrixD((exact * first) * first.transpose())
                                  : MatrixD(first * (first.transpose() * exact)))
            .cast<float>();
}

void hide_later_keys(MatrixMap map) { map.triangularView<Eigen::StrictlyUpper>().setZero(); }

std::vector<std::int64_t> default_ranks(const Model& model) {
  constexpr std::int64_t most = 2048;
  const ModelSpec& spec = model.spec();
  std::int64_t tokens = spec.tokens();
  if (spec.reads_texts())
    tokens = spec.input.context > 0 ? std::min(spec.input.context, most) : most;
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 1; rank < tokens; rank *= 2) ranks.push_back(rank);
  return ranks;
}

std::string in_words(const TruncationRequest& request) {
  const bool one_cut = request.cuts.size() == 1, one_way = request.renormalise.size() == 1;
  std::string words = "A";
  if (one_cut && request.cuts.front() == TruncatedMap::with_identity) words = "A + I";
  if (!one_cut) words = "A, and A + I,";
  words += " of " + in_words(request.where);
  if (!one_way) return words + ", rows as they are and scaled to the sums they had";
  return words + (request.renormalise.front() ? ", rows scaled to the sums they had" : "");
}

std::vector<SeriesRequest> truncation_series(const Subject& subject,
                                             const TruncationRequest& request) {
  const bool has_identity = make_mechanism(subject.mechanism)->has_identity_mapping();
  check_request(subject, request, has_identity);
  const ScoreSpec& scores = subject.model->spec().layer.scores;
  const bool causal = scores.causal && !scores.picture_both_ways;
  const std::vector<std::int64_t> ranks =
      request.ranks.empty() ? default_ranks(*subject.model) : request.ranks;
  std::vector<SeriesRequest> list;
  for (const TruncatedMap of : request.cuts) {
    const bool apart = of == TruncatedMap::without_identity;
    if (!apart && !has_identity) continue;
    for (const bool renormalise : request.renormalise) {
      const Cut cut{.where = request.where,
                    .apart = apart && has_identity,
                    .renormalise = renormalise,
                    .causal = causal};
      SeriesRequest series = series_of(subject, ranks, cut, request);
      if (has_identity) series.label += apart ? ", A_r + I" : ", (A + I)_r";
      if (causal) series.label += ", later keys hidden again";
      if (renormalise) series.label += ", rows to their sums";
      list.push_back(std::move(series));
    }
  }
  return list;
}

void add_truncation(const std::vector<Subject>& subjects, const TruncationRequest& request,
                    StudyRequest& study) {
  for (const Subject& subject : subjects) {
    for (SeriesRequest& series : truncation_series(subject, request)) {
      study.series.push_back(std::move(series));
    }
  }
  study.kind = StudyKind::truncation;
  study.description = in_words(request);
  study.fingerprint = study.description + (request.baselines ? ", null models" : "");
  study.threshold = request.threshold;
}

}  // namespace attnscope
