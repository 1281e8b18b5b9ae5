#include "analysis/intervention/ablation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "analysis/baselines/null_model.h"
#include "analysis/heads/row_weights.h"
#include "analysis/intervention/answer.h"
#include "core/error.h"
#include "core/model/layer_run.h"
#include "core/model/transformer/transformer.h"

namespace attnscope {

namespace {

/// [H, N, d] → [N, H·d]; heads that several queries share are repeated.
Tensor beside_each_other(const Tensor& vectors, std::int64_t heads) {
  const std::int64_t own = vectors.extent(0), rows = vectors.extent(1), width = vectors.extent(2);
  Tensor all({rows, heads * width});
  for (std::int64_t head = 0; head < heads; ++head) {
    all.matrix().middleCols(head * width, width) = vectors.slice(head * own / heads);
  }
  return all;
}

/// Throws Error(usage) unless the layer's scores are plain q·k: without biases, windows, caps or
/// sinks.
void check_plain(const Block& block, std::int64_t layer) {
  const ScoreSpec& scores = block.spec.scores;
  const bool plain = scores.bias == ScoreBias::none && scores.window == 0 && scores.soft_cap == 0 &&
                     block.attention.sinks.empty() && block.attention.grid_window == 0 &&
                     block.attention.gates.empty() && !scores.picture_both_ways &&
                     block.spec.form == LayerForm::transformer;
  if (plain) return;
  throw Error(ErrorKind::usage, "the attention of single heads cannot be replaced in this layer")
      .about("layer " + std::to_string(layer))
      .expected("scores without windows, biases, caps and sinks, and no decays from the tokens")
      .remedy("lay it over the whole model: MODEL@MECHANISM");
}

/// Maps of the mechanism `choice` on the queries and keys of one layer, without I.
Tensor maps_of_mechanism(const MechanismChoice& choice, const Subject& subject, const Trace& whole,
                         std::int64_t layer) {
  const Block& block = block_of(transformer_of(*subject.model), layer);
  check_plain(block, layer);
  const LayerTrace& traced = whole.layers[static_cast<std::size_t>(layer)];
  const std::unique_ptr<const Mechanism> mechanism = make_mechanism(choice);
  const std::int64_t heads = traced.implied_map.extent(0);
  const Tensor queries = beside_each_other(traced.queries, heads);
  const Tensor keys = beside_each_other(traced.keys, heads);
  const Tensor values = beside_each_other(traced.values, heads);
  const NamedTensors& parameters = block.attention.mechanism;
  const bool same_tokens = block.spec.attention.of == Attending::self && !block.attention.reduction;
  const AttentionInput input{.queries = queries.matrix(),
                             .keys = keys.matrix(),
                             .values = values.matrix(),
                             .heads = heads,
                             .parameters = &parameters,
                             .layout = same_tokens ? &traced.layout : nullptr,
                             .causal = block.spec.scores.causal,
                             .layer = layer,
                             .scale = block.score_scale};
  if (mechanism->structure(input.shape()).channels > 1) {
    throw Error(ErrorKind::usage, "the mechanism has one map per channel, not per head")
        .about(choice.name);
  }
  if (input.causal && !find_mechanism(choice.name).causal) {
    throw Error(ErrorKind::usage, "the mechanism does not support causal masks").about(choice.name);
  }
  Tensor maps = mechanism->implied_map(input);
  if (mechanism->has_identity_mapping() && maps.extent(1) == maps.extent(2)) {
    for (std::int64_t head = 0; head < heads; ++head) maps.slice(head).diagonal().array() -= 1;
  }
  return maps;
}

/// Replaces the maps of an ablated run, head by head.
class Replacer {
 public:
  Replacer(Ablation ablation, const Subject& subject, std::shared_ptr<const Trace> whole)
      : ablation_(std::move(ablation)), subject_(subject), whole_(std::move(whole)) {
    check();
    if (ablation_.by != Replacement::mechanism) return;
    const std::int64_t layers = std::ssize(whole_->layers);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      if (!ablation_.where.has_layer(layer)) continue;
      others_[layer] = maps_of_mechanism(ablation_.mechanism, subject_, *whole_, layer);
    }
  }

  void replace(std::int64_t layer, std::int64_t head, MatrixMap map) const {
    if (!ablation_.where.has_layer(layer) || !ablation_.where.has_head(head)) return;
    const bool identity = has_identity(*whole_, layer) && map.rows() == map.cols();
    if (identity) map.diagonal().array() -= 1;
    put(layer, head, map);
    if (identity) map.diagonal().array() += 1;
  }

 private:
  /// Keys that the queries of `map` see in the unchanged run.
  [[nodiscard]] SeenKeys seen(std::int64_t layer, const MatrixMap& map) const {
    return seen_keys(whole_->layers[static_cast<std::size_t>(layer)], map.cast<double>());
  }

  void put(std::int64_t layer, std::int64_t head, MatrixMap map) const {
    switch (ablation_.by) {
      case Replacement::zero:
        map.setZero();
        break;
      case Replacement::uniform:
        map = even_map(map.rows(), map.cols(), seen(layer, map)).cast<float>();
        break;
      case Replacement::shuffled:
        map = shuffled_rows(map.cast<double>(), 0, seen(layer, map)).cast<float>();
        break;
      case Replacement::mean:
        take((*ablation_.mean)[static_cast<std::size_t>(layer)], head, layer, map);
        break;
      case Replacement::head:
        take(maps_seen(*whole_, layer, IdentityView::without), ablation_.other_head, layer, map);
        break;
      case Replacement::mechanism:
        take(others_.at(layer), head, layer, map);
        break;
    }
  }

  static void take(const ImpliedMaps& maps, std::int64_t head, std::int64_t layer, MatrixMap map) {
    if (maps.rank() != 3 || head >= maps.extent(0) || maps.extent(1) != map.rows() ||
        maps.extent(2) != map.cols()) {
      throw Error(ErrorKind::usage, "the replacement map has the wrong shape")
          .about("layer " + std::to_string(layer))
          .expected(to_string(Shape{head + 1, map.rows(), map.cols()}) + " or more heads")
          .found(to_string(maps.shape()));
    }
    map = maps.head(head);
  }

  void check() const {
    const std::int64_t layers = std::ssize(whole_->layers);
    const std::int64_t heads = subject_.model->spec().layer.attention.heads;
    check_choice(ablation_.where, layers, heads, "");
    if (ablation_.by == Replacement::head) {
      check_choice({.heads = {ablation_.other_head}}, layers, heads, "other ");
    }
    if (ablation_.by == Replacement::mean &&
        (!ablation_.mean || std::ssize(*ablation_.mean) != layers)) {
      throw Error(ErrorKind::usage, "the mean maps of the model's layers are missing")
          .remedy("mean_maps computes them over a data set");
    }
  }

  Ablation ablation_;
  const Subject subject_;
  std::shared_ptr<const Trace> whole_;
  std::map<std::int64_t, Tensor> others_;  ///< maps for Replacement::mechanism, by layer
};

Intervention intervention_of(std::string name, const Ablation& ablation) {
  return {.name = std::move(name),
          .needs = [ablation](TraceRequest& request) { request_for(ablation, request); },
          .change =
              [ablation](const Subject& subject, std::shared_ptr<const Trace> whole) {
                return change_of(ablation, subject, std::move(whole));
              }};
}

/// The chosen indices in full: 0 to count − 1 if the list is empty.
std::vector<std::int64_t> all_of(const std::vector<std::int64_t>& chosen, std::int64_t count) {
  if (!chosen.empty()) return chosen;
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

std::string in_words(const Ablation& ablation) {
  const std::string by = [&]() -> std::string {
    switch (ablation.by) {
      case Replacement::zero:
        return "zero";
      case Replacement::uniform:
        return "equal weights";
      case Replacement::mean:
        return "their mean over the data set";
      case Replacement::head:
        return "that of head " + std::to_string(ablation.other_head) + " of the same layer";
      case Replacement::mechanism:
        return "that of " + to_string(ablation.mechanism);
      case Replacement::shuffled:
        return "their rows shuffled";
    }
    return {};
  }();
  return "maps of " + in_words(ablation.where) + ", replaced by " + by;
}

std::shared_ptr<const LayerMaps> mean_maps(const Subject& subject, const DataSet& data_set,
                                           const ItemChoice& choice, const Progress& progress) {
  const std::vector<std::int64_t> items = chosen_items(data_set.size(), choice);
  if (items.empty()) throw Error(ErrorKind::usage, "the data set is empty");
  auto means = std::make_shared<LayerMaps>();
  TraceRequest request;
  request.parameters = subject.parameters;
  // Items run in sequence: a fixed order of summation gives the same bits on any number of threads.
  for (std::size_t i = 0; i < items.size(); ++i) {
    progress.step(static_cast<double>(i) / static_cast<double>(items.size()), "mean maps");
    const Input input = data_set.item(items[i]);
    const Trace trace = subject.model->run(input, subject.mechanism, request, {});
    for (std::size_t layer = 0; layer < trace.layers.size(); ++layer) {
      ImpliedMaps maps = maps_seen(trace, static_cast<std::int64_t>(layer), IdentityView::without);
      if (i == 0) {
        means->push_back(std::move(maps));
        continue;
      }
      ImpliedMaps& mean = (*means)[layer];
      if (mean.shape() != maps.shape() || std::size(mean.entries()) != std::size(maps.entries())) {
        throw Error(ErrorKind::usage, "maps of different shapes have no mean")
            .about(input.label)
            .expected(to_string(mean.shape()))
            .found(to_string(maps.shape()));
      }
      // Running mean: a float sum of many maps would lose the contribution of single ones.
      const std::span<float> sum = mean.entries();
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += (maps.entries()[k] - sum[k]) / static_cast<float>(i + 1);
      }
    }
  }
  progress.step(1, "mean maps");
  return means;
}

void request_for(const Ablation& ablation, TraceRequest& request) {
  if (ablation.by == Replacement::head || ablation.by == Replacement::mechanism) {
    request.implied_maps = true;
  }
  if (ablation.by == Replacement::mechanism) request.queries_keys_values = true;
}

MapChange change_of(const Ablation& ablation, const Subject& subject,
                    std::shared_ptr<const Trace> whole) {
  const auto replacer = std::make_shared<const Replacer>(ablation, subject, std::move(whole));
  return [replacer](std::int64_t layer, std::int64_t head, MatrixMap map) {
    replacer->replace(layer, head, map);
  };
}

AblatedAnswer ablate_once(const Subject& subject, const Input& input, const Ablation& ablation,
                          const Progress& progress) {
  TraceRequest request;
  request.implied_maps = false;
  request.parameters = subject.parameters;
  request_for(ablation, request);
  const auto whole = std::make_shared<const Trace>(
      subject.model->run(input, subject.mechanism, request, progress.part(0, 0.5)));
  if (whole->logits.empty()) {
    throw Error(ErrorKind::usage, "the model gives no logits to compare")
        .in_file(subject.model->file())
        .expected("a head of classes or tokens");
  }
  request.implied_maps = request.queries_keys_values = false;
  request.change_map = change_of(ablation, subject, whole);
  const Trace changed =
      subject.model->run(input, subject.mechanism, request, progress.part(0.5, 1));
  AblatedAnswer answer;
  answer.before.assign(whole->logits.values().begin(), whole->logits.values().end());
  answer.after.assign(changed.logits.values().begin(), changed.logits.values().end());
  answer.labels = whole->labels;
  answer.divergence = divergence_bits(whole->logits.values(), changed.logits.values());
  answer.likeliest_before = likeliest(answer.before);
  answer.likeliest_after = likeliest(answer.after);
  return answer;
}

std::vector<LogitChange> AblatedAnswer::greatest(std::size_t most) const {
  if (likeliest_before < 0 || likeliest_after < 0) return {};
  const Eigen::ArrayXd p = log_probabilities(before).exp(), q = log_probabilities(after).exp();
  std::vector<std::int64_t> order(before.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  const auto take = [&](const auto& value, std::vector<std::int64_t>& taken) {
    std::ranges::stable_sort(order,
                             [&](std::int64_t a, std::int64_t b) { return value(a) > value(b); });
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
      if (std::ranges::find(taken, order[i]) == taken.end()) taken.push_back(order[i]);
    }
  };
  std::vector<std::int64_t> taken;
  take([&](std::int64_t i) { return p(i); }, taken);
  take([&](std::int64_t i) { return q(i) - p(i); }, taken);
  std::vector<LogitChange> changes;
  for (const std::int64_t index : taken) {
    const auto at = static_cast<std::size_t>(index);
    changes.push_back({.index = index,
                       .label = at < labels.size() ? labels[at] : std::string(),
                       .before = static_cast<double>(before[at]),
                       .after = static_cast<double>(after[at]),
                       .probability_before = p(index),
                       .probability_after = q(index)});
  }
  return changes;
}

SeriesRequest ablation_series(const Subject& subject, const Ablation& ablation, AblatedUnit unit) {
  SeriesRequest series;
  series.subject = subject;
  series.label = subject.label;
  const ModelSpec& spec = subject.model->spec();
  check_choice(ablation.where, spec.layers, spec.layer.attention.heads, "--");
  if (unit == AblatedUnit::all) {
    series.interventions.push_back(intervention_of("all", ablation));
    return series;
  }
  const Transformer& model = transformer_of(*subject.model);
  const std::vector<std::int64_t> heads = all_of(ablation.where.heads, spec.layer.attention.heads);
  for (const std::int64_t layer : all_of(ablation.where.layers, spec.layers)) {
    Ablation one = ablation;
    one.where.layers = {layer};
    const std::string name = "layer " + std::to_string(layer);
    if (unit == AblatedUnit::layer) {
      series.interventions.push_back(intervention_of(name, one));
      series.interventions.back().layer = layer;
      continue;
    }
    const std::int64_t own = block_of(model, layer).spec.attention.heads;
    for (const std::int64_t head : heads) {
      if (head >= own) continue;  // stages of a pyramid may have fewer heads
      one.where.heads = {head};
      series.interventions.push_back(intervention_of(name + " head " + std::to_string(head), one));
      series.interventions.back().layer = layer;
      series.interventions.back().head = head;
    }
  }
  return series;
}

void add_ablation(const std::vector<Subject>& subjects, Ablation ablation, AblatedUnit unit,
                  StudyRequest& study, const Progress& progress) {
  const double share = 1.0 / static_cast<double>(subjects.size());
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (ablation.by == Replacement::mean) {
      if (!study.data_set) {
        throw Error(ErrorKind::usage, "chunks of a text differ in length and have no mean map")
            .about("--by mean")
            .expected("--dataset");
      }
      const double first = share * static_cast<double>(i);
      ablation.mean = mean_maps(subjects[i], *study.data_set, study.choice,
                                progress.part(first, first + share));
    }
    study.series.push_back(ablation_series(subjects[i], ablation, unit));
  }
  study.kind = StudyKind::ablation;
  study.description = in_words(ablation);
  study.fingerprint =
      study.description + ", each " + std::string(name_of(ablated_unit_names, unit));
}

}  // namespace attnscope
