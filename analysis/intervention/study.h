// Study of a model's answers over a data set or text while its maps are changed: stores the answer
// to every question under every change. Truncation and ablation are studies; they resume like
// sweeps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/spectrum/rank.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/input/text.h"
#include "core/model/subject.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Changed heads: each of `heads` in each of `layers`. An empty list means all.
struct HeadChoice {
  std::vector<std::int64_t> layers = {}, heads = {};

  [[nodiscard]] bool has_layer(std::int64_t layer) const;
  [[nodiscard]] bool has_head(std::int64_t head) const;
};

/// Description: "layers 0, 3, all heads".
[[nodiscard]] std::string in_words(const HeadChoice& choice);

/// Throws Error(usage) about "layers" or "heads" with `prefix` ("--" for options) for the first
/// layer outside [0, layers) or head outside [0, heads).
void check_choice(const HeadChoice& choice, std::int64_t layers, std::int64_t heads,
                  const char* prefix);

/// Function for TraceRequest::change_map: changes the map of one head in place.
using MapChange = std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)>;

/// One change of a model's maps.
struct Intervention {
  std::string name;                    ///< name in files: "rank 4", "layer 0 head 2"
  std::int64_t layer = -1, head = -1;  ///< the one layer or head that is changed; else −1
  std::int64_t rank = 0;               ///< rank to which maps are truncated; 0 if they are not
  /// Adds the tensors of an unchanged run that `change` needs; may be null.
  std::function<void(TraceRequest& request)> needs;
  /// Returns the change_map for one input, whose unchanged run is `whole`. Called from several
  /// threads.
  std::function<MapChange(const Subject& subject, std::shared_ptr<const Trace> whole)> change;
};

/// Sums over the maps that a series changes, in the unchanged run of one question.
struct RankSum {
  double sum = 0;
  std::int64_t maps = 0, greatest = 0;  ///< greatest: min(N, M) of the largest map
  /// Sums of null ranks (rows shuffled) and of rank / null, if requested.
  double null_sum = 0, ratio_sum = 0;
  std::int64_t null_maps = 0;
};

/// One model and the interventions on it.
struct SeriesRequest {
  Subject subject;
  std::string label;  ///< "vit", "vit as adder + I"
  std::vector<Intervention> interventions;
  /// Computes ranks from the trace of an unchanged run with maps; null if not requested.
  std::function<RankSum(const Trace& whole)> ranks;
  bool null_ranks = false;  ///< true if `ranks` also sets null ranks
};

/// Answers of one model. Rows are questions: images, or chunks of the text as the model reads it.
/// Columns are the unchanged model, then the interventions.
struct StudySeries {
  std::string label, model, mechanism;
  struct Column {
    std::string name;
    std::int64_t layer = -1, head = -1, rank = 0;
  };
  std::vector<Column> columns;  ///< the first one is named "whole"
  std::int64_t count = 0, done = 0;
  std::vector<std::int64_t> predicted;  ///< [done]: 1 for an image, number of tokens of a chunk
  /// [done]: characters of the predicted tokens; 0 for an image.
  std::vector<std::int64_t> characters;
  std::vector<std::int64_t> correct;     ///< [done, columns]: number of correct predictions
  std::vector<std::int64_t> not_finite;  ///< [done, columns]: number of predictions with NaN or Inf
  std::vector<double> nats;        ///< [done, columns]: Σ −ln p(true) over finite predictions
  std::vector<double> divergence;  ///< [done, columns]: Σ KL(whole ‖ changed) in bits
  std::vector<double> rank_sums;   ///< [done], see RankSum
  std::vector<std::int64_t> rank_maps;  ///< [done]
  std::int64_t greatest_rank = 0;
  bool null_ranks = false;                    ///< true if the next members are set, see RankSum
  std::vector<double> null_sums, ratio_sums;  ///< [done]
  std::vector<std::int64_t> null_maps;        ///< [done]
};

enum class StudyKind { truncation, ablation };

struct StudyResult {
  StudyKind kind = StudyKind::truncation;
  bool of_text = false;     ///< true if questions are text chunks and answers are tokens
  std::string data;         ///< the data set's path, or the text's locator
  std::string description;  ///< change of the maps in words
  std::string fingerprint;  ///< fingerprint of the request
  std::int64_t items = 0;   ///< number of items in the data set; 0 for texts
  std::uint32_t seed = 0;
  RankThreshold threshold = {};  ///< threshold of the equivalent rank
  std::vector<StudySeries> series;

  [[nodiscard]] bool complete() const;
};

struct StudyRequest {
  StudyKind kind = StudyKind::truncation;
  std::vector<SeriesRequest> series;
  std::shared_ptr<const DataSet> data_set;  ///< either a data set or a text is required
  std::optional<Text> text;
  std::string data;
  std::string description;
  std::string fingerprint;  ///< further settings that the result depends on
  ItemChoice choice;        ///< choice of images or of text chunks
  RankThreshold threshold = {};
  std::filesystem::path out;  ///< nothing is written if empty
  bool restart = false;       ///< true to discard finished and unfinished work in `out`
  double checkpoint_seconds = 5;
};

/// Called at each checkpoint and at the end, after the file, if any, was written.
using StudyAdvanced = std::function<void(const StudyResult&)>;

/// Runs on all cores; the result has the same bits for any number of cores and interruptions.
/// Unfinished work is kept in sweep_checkpoint(out). Throws Error(usage) for models without logits,
/// data without labels, models that cannot read the text, or another study's work in the file;
/// Error(io), Cancelled.
[[nodiscard]] StudyResult run_study(const StudyRequest& request, const Progress& progress = {},
                                    const StudyAdvanced& advanced = {});

/// Summary of one column of a series. NaN means unknown.
struct Outcome {
  std::int64_t predicted = 0, correct = 0, not_finite = 0;
  double accuracy = 0;  ///< share of correct answers; not finite ones count as wrong
  /// Standard error: √(p(1 − p)/n) for images; for texts, whose tokens are dependent, the standard
  /// deviation of 1000 bootstrap resamples of chunks (MT19937, seed 0).
  double accuracy_error = 0;
  double divergence = 0;        ///< mean KL(p ‖ p′) in bits per prediction
  double divergence_error = 0;  ///< standard error of the mean; by bootstrap for texts
  double bits_per_token = 0;    ///< mean −log₂ p(true)
  double bits_per_token_error = 0;
  double bits_per_character = 0;  ///< only for texts
  double bits_per_character_error = 0;
  /// Accuracy minus that of the unchanged model, and the paired standard error of that difference:
  /// √((b + c − (b − c)²/n))/n for images, where b and c count the answers that only one of them
  /// has right; by bootstrap for texts.
  double accuracy_change = 0, accuracy_change_error = 0;
};

/// Summary of the questions done so far.
[[nodiscard]] Outcome outcome_of(const StudyResult& result, std::size_t series, std::size_t column);

/// Means of null ranks and of rank / null over the maps of all questions done; empty if unknown.
struct NullOutcome {
  double rank = 0, rank_over_null = 0;
};
[[nodiscard]] std::optional<NullOutcome> mean_null_of(const StudySeries& series);

/// Mean equivalent rank over the maps of all questions done; empty if no map has one.
[[nodiscard]] std::optional<double> mean_equivalent_rank(const StudySeries& series);

/// Writes a study, finished or not, as a temporary HDF5 file and renames it. Equal results give
/// equal bytes. Throws Error(io).
void write_study(const std::filesystem::path& file, const StudyResult& result);

/// Reads a study. Throws Error(io, not_this_format); Error(damaged) for inconsistent shapes.
[[nodiscard]] StudyResult read_study(const std::filesystem::path& file);

}  // namespace attnscope
