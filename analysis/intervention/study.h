// What becomes of a model's answers over a whole data set or text when its maps are changed while
// it runs: of every question, under every change, what was answered. Truncation and ablation are
// studies; they resume as sweeps do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/intervention/ablation.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/input/text.h"
#include "core/model/subject.h"
#include "core/progress.h"

namespace attnscope {

/// One change of a model's maps.
struct Intervention {
  std::string name;                    ///< in files: "rank 4", "layer 0 head 2"
  std::int64_t layer = -1, head = -1;  ///< what it changes, where that is one layer or head
  std::int64_t rank = 0;               ///< what the maps are cut off to; 0: they are not
  /// Adds what `change` needs of an unchanged run; may be null.
  std::function<void(TraceRequest& request)> needs;
  /// What to run one input with, whose unchanged run is `whole`. Called from several threads.
  std::function<MapChange(const Subject& subject, std::shared_ptr<const Trace> whole)> change;
};

/// The equivalent ranks of the maps that a series changes, of one question's unchanged run.
struct RankSum {
  double sum = 0;
  std::int64_t maps = 0, greatest = 0;  ///< greatest: min(N, M) of the largest
  /// Of the same maps with their rows shuffled, and of rank over that; where it was asked for.
  double null_sum = 0, ratio_sum = 0;
  std::int64_t null_maps = 0;
};

/// One model under one kind of changes.
struct SeriesRequest {
  Subject subject;
  std::string label;  ///< "vit", "vit as adder + I"
  std::vector<Intervention> interventions;
  /// Of the trace of an unchanged run with maps; null: ranks are not asked for.
  std::function<RankSum(const Trace& whole)> ranks;
  bool null_ranks = false;  ///< whether those know null models
};

/// What was answered. Rows are questions: an image, or a stretch of the text as the model reads it.
/// Columns: the model as it is, then the interventions.
struct StudySeries {
  std::string label, model, mechanism;
  struct Column {
    std::string name;
    std::int64_t layer = -1, head = -1, rank = 0;
  };
  std::vector<Column> columns;  ///< the first is named "whole"
  std::int64_t count = 0, done = 0;
  std::vector<std::int64_t> predicted;   ///< [done]: 1 of an image, tokens of a stretch
  std::vector<std::int64_t> characters;  ///< [done]: of the tokens predicted; 0 of an image
  std::vector<std::int64_t> correct;     ///< [done, columns]: the largest logit was the true one's
  std::vector<std::int64_t> not_finite;  ///< [done, columns]: predictions with NaN or Inf
  std::vector<double> nats;              ///< [done, columns]: Σ −ln p(true), of finite ones
  std::vector<double> divergence;        ///< [done, columns]: Σ KL(whole ‖ changed) in bits
  std::vector<double> rank_sums;         ///< [done], as RankSum
  std::vector<std::int64_t> rank_maps;   ///< [done]
  std::int64_t greatest_rank = 0;
  bool null_ranks = false;                    ///< whether there are, as RankSum:
  std::vector<double> null_sums, ratio_sums;  ///< [done]
  std::vector<std::int64_t> null_maps;        ///< [done]
};

enum class StudyKind { truncation, ablation };

struct StudyResult {
  StudyKind kind = StudyKind::truncation;
  bool of_text = false;     ///< questions are stretches, answers tokens
  std::string data;         ///< the data set's path, or the text's locator
  std::string description;  ///< what is done to the maps, in words
  std::string fingerprint;  ///< of what is studied
  std::int64_t items = 0;   ///< how many could be chosen; of texts 0
  std::uint32_t seed = 0;
  double threshold = 0.9;  ///< τ of the equivalent rank
  std::vector<StudySeries> series;

  [[nodiscard]] bool complete() const;
};

struct StudyRequest {
  StudyKind kind = StudyKind::truncation;
  std::vector<SeriesRequest> series;
  std::shared_ptr<const DataSet> data_set;  ///< one of the two
  std::optional<Text> text;
  std::string data;
  std::string description;
  std::string fingerprint;  ///< what decides the result besides models, data and choice
  ItemChoice choice;        ///< of images, or of stretches
  double threshold = 0.9;
  std::filesystem::path out;  ///< nothing is written if empty
  bool restart = false;       ///< forget finished and unfinished work found there
  double checkpoint_seconds = 5;
};

/// Called after a checkpoint or the result was written.
using StudyAdvanced = std::function<void(const StudyResult&)>;

/// All cores; the result has the same bits whatever their number and however often it was
/// interrupted. Unfinished work lies at sweep_checkpoint(out). Throws Error(usage) for models
/// without logits, data without labels, models that cannot read the text, work of another study in
/// the place; Error(io), Cancelled.
[[nodiscard]] StudyResult run_study(const StudyRequest& request, const Progress& progress = {},
                                    const StudyAdvanced& advanced = {});

/// One column of a series in numbers. NaN: not known.
struct Outcome {
  std::int64_t predicted = 0, correct = 0, not_finite = 0;
  double accuracy = 0;  ///< share of right answers; what is not finite is wrong
  /// Of images √(p(1 − p)/n); of texts, whose tokens hang together, by bootstrap over stretches:
  /// the standard deviation of 1000 resamples (MT19937, seed 0).
  double accuracy_error = 0;
  double divergence = 0;        ///< mean KL(p ‖ p′) in bits a prediction
  double divergence_error = 0;  ///< of the mean over images; of texts by bootstrap
  double bits_per_token = 0;    ///< mean −log₂ p(true)
  double bits_per_token_error = 0;
  double bits_per_character = 0;  ///< of texts
  double bits_per_character_error = 0;
  /// Accuracy less that of the whole model, and the standard error of that difference, answer by
  /// answer: of images √((b + c − (b − c)²/n))/n with b, c the answers that only one of them has
  /// right; of texts by bootstrap.
  double accuracy_change = 0, accuracy_change_error = 0;
};

/// Of the questions done so far.
[[nodiscard]] Outcome outcome_of(const StudyResult& result, std::size_t series, std::size_t column);

/// Means over the maps of all questions done, of null ranks and of rank / null; none where they are
/// not known.
struct NullOutcome {
  double rank = 0, rank_over_null = 0;
};
[[nodiscard]] std::optional<NullOutcome> mean_null_of(const StudySeries& series);

/// Mean over the maps of all questions done; none where no map has one.
[[nodiscard]] std::optional<double> mean_equivalent_rank(const StudySeries& series);

}  // namespace attnscope
