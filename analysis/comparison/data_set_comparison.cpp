#include "analysis/comparison/data_set_comparison.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tbb/parallel_for.h>
#include <vector>

#include "analysis/comparison/map_distance.h"
#include "analysis/matrix/analysed_matrix.h"
#include "core/error.h"

namespace attnscope {

namespace {

bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

std::int64_t largest(std::span<const float> logits) {
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

std::vector<double> softmax(std::span<const float> logits) {
  const double peak = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  for (const float logit : logits) shares.push_back(std::exp(static_cast<double>(logit) - peak));
  return shares;  // not normalised: row_divergence normalises rows
}

/// Number of items whose results are held in memory at once.
constexpr std::int64_t kBatch = 16;
/// Number of items whose maps decide which heads are paired.
constexpr std::int64_t kItemsForMatching = 8;

Trace run(const ComparedModel& model, const Input& input, const MatrixChoice& analysed = {}) {
  TraceRequest request;
  request.tokens = true;
  request_for(analysed, request);
  return model.model->run(input, model.mechanism, request, {});
}

/// A subject of the model and the trace, which must outlive it.
Subject subject_of(const ComparedModel& model, const Trace& trace) {
  Subject subject = without_model(trace);
  subject.model = model.model;
  return subject;
}

std::string why_not_predicted(const ComparedModel& reference, const ComparedModel& other) {
  const bool heads = reference.model->spec().readout.gives_features() &&
                     other.model->spec().readout.gives_features();
  return heads ? std::string() : "a model has no head to classify with";
}

/// Head costs summed over the items, one entry per model except the first.
std::vector<HeadCosts> summed_costs(std::span<const ComparedModel> models, const DataSet& data_set,
                                    std::span<const std::int64_t> items,
                                    const ComparisonOptions& options, const Progress& progress) {
  std::vector<std::vector<HeadCosts>> of_item(items.size());
  std::atomic<std::int64_t> done{0};
  tbb::parallel_for(std::size_t{0}, items.size(), [&](std::size_t i) {
    progress.step(static_cast<double>(done) / static_cast<double>(items.size()), "heads matched");
    const Input input = data_set.item(items[i]);
    const Trace reference = run(models.front(), input);
    for (const ComparedModel& model : models.subspan(1)) {
      of_item[i].push_back(
          head_costs(reference, run(model, input), options.layers, options.analysed.identity));
    }
    ++done;
  });
  std::vector<HeadCosts> sums = of_item.front();
  for (std::size_t i = 1; i < of_item.size(); ++i) {
    for (std::size_t model = 0; model < sums.size(); ++model) {
      for (std::size_t layer = 0; layer < sums[model].size(); ++layer) {
        sums[model][layer] += of_item[i][model][layer];
      }
    }
  }
  return sums;
}

/// The comparison of one model with the reference on one item.
struct ItemComparison {
  SubjectComparison maps;
  std::vector<float> logits, reference_logits;
  int true_class = -1;
};

/// Running means of one model's comparisons.
class Means {
 public:
  void add(ItemComparison& item, std::string& why_no_predictions) {
    if (result_.items == 0) {
      result_.mean = item.maps;
      for (ComparedMap& map : result_.mean.maps) map.row_divergence.clear();
      maps_.resize(item.maps.maps.size());
      layers_.resize(item.maps.layers.size());
    }
    // Items of a text data set may differ in length, and models in depth, but not in their heads.
    for (std::size_t i = 0; i < maps_.size() && i < item.maps.maps.size(); ++i) {
      maps_[i].add(item.maps.maps[i].values);
      const MapPairState state = item.maps.maps[i].state;
      if (state != MapPairState::compared) result_.mean.maps[i].state = state;
      result_.mean.maps[i].rows_with_negatives =
          std::max(result_.mean.maps[i].rows_with_negatives, item.maps.maps[i].rows_with_negatives);
    }
    for (std::size_t i = 0; i < layers_.size() && i < item.maps.layers.size(); ++i) {
      layers_[i].add(item.maps.layers[i].values);
    }
    all_.add(item.maps.mean);
    if (result_.mean.summary.empty()) result_.mean.summary = item.maps.summary;
    ++result_.items;
    if (!why_no_predictions.empty()) return;
    if (item.logits.size() != item.reference_logits.size() || item.logits.empty()) {
      why_no_predictions = std::to_string(item.logits.size()) + " classes here, " +
                           std::to_string(item.reference_logits.size()) + " in the reference";
      return;
    }
    result_.predictions.add(item.logits, item.reference_logits, item.true_class);
  }

  DataSetComparison finish(const std::string& why_no_predictions) {
    for (std::size_t i = 0; i < maps_.size(); ++i) {
      result_.mean.maps[i].values = maps_[i].mean();
      result_.deviation.push_back(maps_[i].standard_deviation());
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      result_.mean.layers[i].values = layers_[i].mean();
    }
    result_.mean.mean = all_.mean();
    result_.why_no_predictions = why_no_predictions;
    return std::move(result_);
  }

 private:
  DataSetComparison result_;
  std::vector<ComparisonMean> maps_, layers_;
  ComparisonMean all_;
};

}  // namespace

void PredictionAgreement::add(std::span<const float> logits,
                              std::span<const float> reference_logits, int true_class) {
  if (logits.empty() || logits.size() != reference_logits.size()) {
    throw Error(ErrorKind::usage, "predictions of these models cannot be compared")
        .expected(std::to_string(reference_logits.size()) + " classes as the reference")
        .found(std::to_string(logits.size()) + " classes");
  }
  if (!finite(logits) || !finite(reference_logits)) {
    ++not_finite;
    return;
  }
  ++items;
  const std::int64_t own = largest(logits), reference = largest(reference_logits);
  agreeing += own == reference ? 1 : 0;
  sum_divergence_bits += row_divergence(softmax(logits), softmax(reference_logits)).bits;
  if (true_class < 0) return;
  ++labelled;
  const bool own_right = own == true_class, reference_right = reference == true_class;
  both_right += own_right && reference_right ? 1 : 0;
  only_reference_right += !own_right && reference_right ? 1 : 0;
  only_other_right += own_right && !reference_right ? 1 : 0;
  both_wrong += !own_right && !reference_right ? 1 : 0;
}

double PredictionAgreement::share() const {
  return items > 0 ? static_cast<double>(agreeing) / static_cast<double>(items)
                   : std::numeric_limits<double>::quiet_NaN();
}

double PredictionAgreement::standard_error() const {
  const double p = share();
  return std::sqrt(p * (1 - p) / static_cast<double>(items));
}

double PredictionAgreement::mean_divergence() const {
  return items > 0 ? sum_divergence_bits / static_cast<double>(items)
                   : std::numeric_limits<double>::quiet_NaN();
}

std::vector<DataSetComparison> compare_over_data_set(std::span<const ComparedModel> models,
                                                     const DataSet& data_set,
                                                     const ItemChoice& choice,
                                                     const ComparisonOptions& options,
                                                     const Progress& progress) {
  if (models.size() < 2) {
    throw Error(ErrorKind::usage, "a comparison needs a reference and another model")
        .expected("two models or more")
        .found(std::to_string(models.size()));
  }
  const std::vector<std::int64_t> chosen = chosen_items(data_set.size(), choice);
  const std::int64_t items = std::ssize(chosen);
  if (items == 0) throw Error(ErrorKind::usage, "the data set is empty");
  std::vector<HeadCosts> costs;
  const double first = options.match_heads ? 0.1 : 0;
  if (options.match_heads) {
    std::vector<std::int64_t> for_matching;
    for (const std::int64_t place : chosen_items(items, {kItemsForMatching})) {
      for_matching.push_back(chosen[static_cast<std::size_t>(place)]);
    }
    costs = summed_costs(models, data_set, for_matching, options, progress.part(0, first));
  }
  const Progress rest = progress.part(first, 1);
  const std::size_t others = models.size() - 1;
  std::vector<Means> means(others);
  std::vector<std::string> why_no_predictions;
  for (const ComparedModel& model : models.subspan(1)) {
    why_no_predictions.push_back(why_not_predicted(models.front(), model));
  }
  std::atomic<std::int64_t> done{0};
  for (std::int64_t start = 0; start < items; start += kBatch) {
    const std::int64_t size = std::min(kBatch, items - start);
    std::vector<std::vector<ItemComparison>> batch(static_cast<std::size_t>(size));
    tbb::parallel_for(std::int64_t{0}, size, [&](std::int64_t i) {
      rest.step(static_cast<double>(done) / static_cast<double>(items), "items compared");
      const Input input = data_set.item(chosen[static_cast<std::size_t>(start + i)]);
      const Trace reference = run(models.front(), input, options.analysed);
      for (std::size_t other = 0; other < others; ++other) {
        const Trace trace = run(models[other + 1], input, options.analysed);
        std::optional<MapAlignment> alignment;
        if (options.match_heads) {
          alignment = align_by_similarity(reference, trace, options.layers, costs[other]);
        }
        ItemComparison item;
        item.maps = compare_subjects(subject_of(models.front(), reference),
                                     subject_of(models[other + 1], trace), options, alignment);
        item.logits.assign(trace.logits.values().begin(), trace.logits.values().end());
        item.reference_logits.assign(reference.logits.values().begin(),
                                     reference.logits.values().end());
        item.true_class = input.class_index;
        batch[static_cast<std::size_t>(i)].push_back(std::move(item));
      }
      ++done;
    });
    // Added in the order of the items: sums do not depend on the order of completion.
    for (std::vector<ItemComparison>& item : batch) {
      for (std::size_t other = 0; other < others; ++other) {
        means[other].add(item[other], why_no_predictions[other]);
      }
    }
  }
  rest.step(1, "items compared");
  std::vector<DataSetComparison> results;
  for (std::size_t other = 0; other < others; ++other) {
    results.push_back(means[other].finish(why_no_predictions[other]));
  }
  return results;
}

}  // namespace attnscope
