// Ablation of heads: replaces maps while the model runs, and compares the answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/intervention/study.h"
#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/subject.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// Replacement of a head's map A [N, M]. The I of an identity mapping is not part of A and stays.
enum class Replacement {
  zero,       ///< zeros: the head has no output
  uniform,    ///< equal weights on all keys that the mask lets a query see
  mean,       ///< mean of the head's maps over a data set (mean_maps)
  head,       ///< map of another head of the same layer
  mechanism,  ///< map of another mechanism on the same queries and keys
  shuffled    ///< permutation of each row's weights (shuffled_rows, seed 0)
};
inline constexpr EnumName<Replacement> replacement_names[] = {
    {Replacement::zero, "zero"},           {Replacement::uniform, "uniform"},
    {Replacement::mean, "mean"},           {Replacement::head, "head"},
    {Replacement::mechanism, "mechanism"}, {Replacement::shuffled, "shuffled"}};

/// Maps of every layer, each [H, N, M], without I.
using LayerMaps = std::vector<ImpliedMaps>;

struct Ablation {
  HeadChoice where = {};
  Replacement by = Replacement::zero;
  std::int64_t other_head = 0;                 ///< used by Replacement::head
  MechanismChoice mechanism = {};              ///< used by Replacement::mechanism
  std::shared_ptr<const LayerMaps> mean = {};  ///< used by Replacement::mean
};

/// Description: "maps of layer 0, all heads, replaced by equal weights".
[[nodiscard]] std::string in_words(const Ablation& ablation);

/// Mean map of every head over the chosen items. Throws Error(usage) if their maps differ in shape;
/// Cancelled.
[[nodiscard]] std::shared_ptr<const LayerMaps> mean_maps(const Subject& subject,
                                                         const DataSet& data_set,
                                                         const ItemChoice& choice,
                                                         const Progress& progress = {});

/// Adds to `request` the tensors of an unchanged run that change_of needs.
void request_for(const Ablation& ablation, TraceRequest& request);

/// Returns the change_map of a run in which the maps are replaced. `whole` is the trace of the
/// input's unchanged run and is kept. Maps of other heads and mechanisms are computed from that
/// run: exact if only one layer is changed, because the layers before it are unchanged. Throws
/// Error(usage) for layers or heads that do not exist, mean maps of a different shape, and a
/// mechanism on layers whose scores have additional terms (windows, biases).
[[nodiscard]] MapChange change_of(const Ablation& ablation, const Subject& subject,
                                  std::shared_ptr<const Trace> whole);

/// Logit and probability of one class or token before and after the change.
struct LogitChange {
  std::int64_t index = 0;
  std::string label;  ///< may be empty
  double before = 0, after = 0;
  double probability_before = 0, probability_after = 0;
};

struct AblatedAnswer {
  std::vector<float> before, after;  ///< logits
  double divergence = 0;             ///< KL(p ‖ p′) in bits; NaN if a logit is not finite
  std::int64_t likeliest_before = -1, likeliest_after = -1;  ///< −1 if logits are not finite
  std::vector<std::string> labels;                           ///< names of the logits; may be empty
  /// The `most` classes with the greatest probability before, then the `most` whose probability
  /// rises most, without duplicates.
  [[nodiscard]] std::vector<LogitChange> greatest(std::size_t most) const;
};

/// Runs the input with unchanged and with replaced maps. Throws like change_of, and for a model
/// without logits; Cancelled.
[[nodiscard]] AblatedAnswer ablate_once(const Subject& subject, const Input& input,
                                        const Ablation& ablation, const Progress& progress = {});

enum class AblatedUnit {
  head,   ///< each head of each layer separately
  layer,  ///< all heads of each layer together
  all     ///< all layers and heads at once
};
inline constexpr EnumName<AblatedUnit> ablated_unit_names[] = {
    {AblatedUnit::head, "head"}, {AblatedUnit::layer, "layer"}, {AblatedUnit::all, "all"}};

/// Series of one subject with a column for each unit among the ablation's layers and heads, named
/// "layer 0 head 2", "layer 0" or "all". Throws Error(usage) for layers or heads that do not exist.
[[nodiscard]] SeriesRequest ablation_series(const Subject& subject, const Ablation& ablation,
                                            AblatedUnit unit);

/// Makes `study` an ablation study: adds the series of each subject, with mean_maps over the
/// study's data set for Replacement::mean, and sets kind, description and fingerprint. Throws like
/// ablation_series and mean_maps, and Error(usage) for the mean over a text.
void add_ablation(const std::vector<Subject>& subjects, Ablation ablation, AblatedUnit unit,
                  StudyRequest& study, const Progress& progress = {});

}  // namespace attnscope
