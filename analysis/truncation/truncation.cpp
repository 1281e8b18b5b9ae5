#include "analysis/truncation/truncation.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <tbb/parallel_for.h>

#include "analysis/spectrum/spectrum.h"
#include "core/error.h"
#include "core/model/model.h"

namespace attnscope {

namespace {

bool is_among(const std::vector<std::int64_t>& list, std::int64_t index) {
  return list.empty() || std::find(list.begin(), list.end(), index) != list.end();
}

void renormalise_rows(MatrixMap map) {
  for (Eigen::Index row = 0; row < map.rows(); ++row) {
    const double sum = map.row(row).cast<double>().sum();
    if (std::abs(sum) > 1e-6) map.row(row) /= static_cast<float>(sum);
  }
}

/// What is done to the maps of one run.
class Cut {
 public:
  Cut(const TruncationRequest& request, std::int64_t rank, bool has_identity)
      : request_(request),
        rank_(rank),
        apart_(has_identity && request.of == TruncatedMap::without_identity) {}

  void operator()(std::int64_t layer, std::int64_t head, MatrixMap map) const {
    if (!is_among(request_.layers, layer) || !is_among(request_.heads, head)) return;
    const bool square = map.rows() == map.cols();
    if (apart_ && square) map.diagonal().array() -= 1;
    truncate_to_rank(rank_, map);
    if (request_.renormalise) renormalise_rows(map);
    if (apart_ && square) map.diagonal().array() += 1;
  }

 private:
  const TruncationRequest& request_;
  std::int64_t rank_;
  bool apart_;  ///< I is put back
};

/// log softmax, in double.
Eigen::ArrayXd log_probabilities(const Tensor& logits) {
  const Eigen::ArrayXd values =
      Eigen::Map<const Eigen::ArrayXf>(logits.data(), logits.size()).cast<double>();
  const double greatest = values.maxCoeff();
  return values - greatest - std::log((values - greatest).exp().sum());
}

bool is_finite(const Tensor& tensor) {
  return std::all_of(tensor.values().begin(), tensor.values().end(),
                     [](float value) { return std::isfinite(value); });
}

/// Of one image under one rank.
struct Answer {
  bool correct = false, finite = true;
  double divergence = 0;
};

/// Of one image: what is answered, and the equivalent ranks of the maps that are cut off.
struct ImageRecord {
  std::vector<Answer> answers;
  double ranks = 0;
  std::int64_t maps = 0, greatest = 0;
};

Answer answer_of(const Tensor& logits, const Tensor& whole, int true_class) {
  Answer answer;
  answer.finite = is_finite(logits) && is_finite(whole);
  if (!answer.finite) return answer;
  const auto values = logits.values();
  answer.correct = std::max_element(values.begin(), values.end()) - values.begin() == true_class;
  const Eigen::ArrayXd before = log_probabilities(whole), after = log_probabilities(logits);
  answer.divergence = std::max(0.0, (before.exp() * (before - after)).sum()) / std::numbers::ln2;
  return answer;
}

class Study {
 public:
  Study(const Subject& subject, const DataSet& data_set, const TruncationRequest& request)
      : subject_(subject), data_set_(data_set), request_(request) {
    check();
  }

  [[nodiscard]] ImageRecord record(std::int64_t item) const {
    const Input input = data_set_.item(item);
    if (input.class_index < 0) {
      throw Error(ErrorKind::usage, "the item has no label to compare with").about(input.label);
    }
    TraceRequest request;
    request.layers = request_.layers;
    request.parameters = subject_.parameters;
    const Trace whole = subject_.model->run(input, subject_.mechanism, request, {});
    if (input.class_index >= whole.logits.size()) {
      throw Error(ErrorKind::usage, "the label is none of the model's classes")
          .about(input.label)
          .expected("0 to " + std::to_string(whole.logits.size() - 1))
          .found(std::to_string(input.class_index));
    }
    ImageRecord record;
    record.answers.push_back(answer_of(whole.logits, whole.logits, input.class_index));
    add_ranks(whole, record);
    request.implied_maps = false;
    for (const std::int64_t rank : request_.ranks) {
      request.change_map = Cut(request_, rank, has_identity_);
      const Trace cut = subject_.model->run(input, subject_.mechanism, request, {});
      record.answers.push_back(answer_of(cut.logits, whole.logits, input.class_index));
    }
    return record;
  }

 private:
  void check() {
    const ModelSpec& spec = subject_.model->spec();
    if (!spec.readout.gives_features()) {
      throw Error(ErrorKind::usage, "the model has no head to classify with")
          .in_file(subject_.model->file());
    }
    for (const std::int64_t rank : request_.ranks) {
      if (rank >= 1) continue;
      throw Error(ErrorKind::usage, "a map has no such rank")
          .about("--ranks")
          .expected("1 or more")
          .found(std::to_string(rank));
    }
    for (const std::int64_t head : request_.heads) {
      if (head >= 0 && head < spec.layer.attention.heads) continue;
      throw Error(ErrorKind::usage, "the model has no such head")
          .about("--heads")
          .expected("0 to " + std::to_string(spec.layer.attention.heads - 1))
          .found(std::to_string(head));
    }
    has_identity_ = make_mechanism(subject_.mechanism)->has_identity_mapping();
    if (request_.of == TruncatedMap::without_identity || has_identity_) return;
    throw Error(ErrorKind::usage, "there is no I in the maps of this attention")
        .about(subject_.mechanism.name)
        .expected("A cut off: without --cut-identity")
        .remedy("adder attention has it: MODEL@adder,identity=true");
  }

  void add_ranks(const Trace& trace, ImageRecord& record) const {
    SpectrumOptions options;
    options.threshold = request_.threshold;
    options.layers = request_.layers;
    const bool apart = has_identity_ && request_.of == TruncatedMap::without_identity;
    const IdentityView view = apart ? IdentityView::without : IdentityView::as_is;
    for (const MapSpectrum& map : spectra_of(trace, view, options, {})) {
      record.greatest = std::max(record.greatest, std::ssize(map.singular_values));
      if (map.state != SpectrumState::ready || !is_among(request_.heads, map.head)) continue;
      record.ranks += static_cast<double>(map.equivalent_rank);
      ++record.maps;
    }
  }

  const Subject& subject_;
  const DataSet& data_set_;
  const TruncationRequest& request_;
  bool has_identity_ = false;
};

RankOutcome outcome_of(const std::vector<ImageRecord>& records, std::size_t place,
                       std::int64_t rank) {
  RankOutcome outcome{.rank = rank};
  double sum = 0, squares = 0;
  for (const ImageRecord& record : records) {
    const Answer& answer = record.answers[place];
    outcome.correct += answer.correct;
    outcome.not_finite += !answer.finite;
    sum += answer.divergence;
    squares += answer.divergence * answer.divergence;
  }
  const double count = static_cast<double>(std::ssize(records) - outcome.not_finite);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  outcome.divergence = count > 0 ? sum / count : unknown;
  outcome.divergence_error =
      count > 1 ? std::sqrt(std::max(0.0, squares / count - std::pow(sum / count, 2)) / (count - 1))
                : unknown;
  return outcome;
}

}  // namespace

void truncate_to_rank(std::int64_t rank, MatrixMap map) {
  if (rank >= std::min(map.rows(), map.cols())) return;
  // The singular vectors of the shorter side are eigenvectors of its Gram matrix; projecting onto
  // the first of them keeps what they carry.
  const Eigen::MatrixXd exact = map.cast<double>();
  const bool tall = map.rows() >= map.cols();
  const Eigen::MatrixXd gram = tall ? Eigen::MatrixXd(exact.transpose() * exact)
                                    : Eigen::MatrixXd(exact * exact.transpose());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(gram);
  if (solver.info() != Eigen::Success) {
    throw Error(ErrorKind::unsupported, "the singular vectors of a map did not converge");
  }
  const Eigen::MatrixXd first = solver.eigenvectors().rightCols(rank);
  map = (tall ? Eigen::MatrixXd((exact * first) * first.transpose())
              : Eigen::MatrixXd(first * (first.transpose() * exact)))
            .cast<float>();
}

TruncationResult truncate(const Subject& subject, const DataSet& data_set,
                          const TruncationRequest& request, const Progress& progress) {
  const Study study(subject, data_set, request);
  const std::vector<std::int64_t> items = chosen_items(data_set.size(), request.choice);
  if (items.empty()) throw Error(ErrorKind::usage, "the data set is empty");
  std::vector<ImageRecord> records(items.size());
  std::atomic<std::int64_t> done{0};
  tbb::parallel_for(std::size_t{0}, items.size(), [&](std::size_t i) {
    progress.step(static_cast<double>(done) / static_cast<double>(items.size()), "images judged");
    records[i] = study.record(items[i]);
    ++done;
  });
  progress.step(1, "images judged");

  TruncationResult result;
  result.images = std::ssize(items);
  result.outcomes.push_back(outcome_of(records, 0, 0));
  for (std::size_t i = 0; i < request.ranks.size(); ++i) {
    result.outcomes.push_back(outcome_of(records, i + 1, request.ranks[i]));
  }
  double ranks = 0;
  std::int64_t maps = 0;
  for (const ImageRecord& record : records) {
    ranks += record.ranks;
    maps += record.maps;
    result.greatest_rank = std::max(result.greatest_rank, record.greatest);
  }
  if (maps > 0) result.mean_equivalent_rank = ranks / static_cast<double>(maps);
  return result;
}

}  // namespace attnscope
