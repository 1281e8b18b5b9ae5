// What a head is for: its map replaced by another while the model runs, and what becomes of the
// answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/input/data_set.h"
#include "core/input/item_choice.h"
#include "core/model/subject.h"
#include "core/parameters/enum_names.h"
#include "core/progress.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// What stands in the place of a head's map A [N, M]. The I of an identity mapping is no part of A:
/// it stays.
enum class Replacement {
  zero,       ///< nothing: the head gives no output
  uniform,    ///< equal weights on all keys that the mask lets a query see
  mean,       ///< the mean of its maps over a data set (mean_maps)
  head,       ///< the map of another head of the same layer
  mechanism,  ///< what another mechanism makes of the same queries and keys
  shuffled    ///< each row's weights in another order (shuffled_rows, seed 0)
};
inline constexpr EnumName<Replacement> replacement_names[] = {
    {Replacement::zero, "zero"},           {Replacement::uniform, "uniform"},
    {Replacement::mean, "mean"},           {Replacement::head, "head"},
    {Replacement::mechanism, "mechanism"}, {Replacement::shuffled, "shuffled"}};

/// Maps of every layer, [H, N, M] each, without I.
using LayerMaps = std::vector<ImpliedMaps>;

struct Ablation {
  std::vector<std::int64_t> layers, heads;  ///< all if empty
  Replacement by = Replacement::zero;
  std::int64_t other_head = 0;                 ///< of Replacement::head
  MechanismChoice mechanism = {};              ///< of Replacement::mechanism
  std::shared_ptr<const LayerMaps> mean = {};  ///< of Replacement::mean
};

/// "by equal weights", "by the map of head 3", …
[[nodiscard]] std::string in_words(const Ablation& ablation);

/// The mean map of every head over the chosen items. Throws Error(usage) unless all have as many
/// tokens; Cancelled.
[[nodiscard]] std::shared_ptr<const LayerMaps> mean_maps(const Subject& subject,
                                                         const DataSet& data_set,
                                                         const ItemChoice& choice,
                                                         const Progress& progress = {});

/// Of TraceRequest::change_map.
using MapChange = std::function<void(std::int64_t layer, std::int64_t head, MatrixMap map)>;

/// Adds to `request` what change_of needs of an unchanged run.
void request_for(const Ablation& ablation, TraceRequest& request);

/// What to run an input with for the maps to be so replaced; `whole` is the trace of its unchanged
/// run, and is kept. The maps of other heads and mechanisms are that run's: exact where one layer
/// alone is changed, since what comes before it is as it was. Throws Error(usage) for layers and
/// heads that there are none of, mean maps of other extents, and a mechanism where the layer's
/// scores have terms (windows, biases).
[[nodiscard]] MapChange change_of(const Ablation& ablation, const Subject& subject,
                                  std::shared_ptr<const Trace> whole);

/// One class or token, before and after.
struct LogitChange {
  std::int64_t index = 0;
  std::string label;  ///< may be empty
  double before = 0, after = 0;
  double probability_before = 0, probability_after = 0;
};

struct AblatedAnswer {
  std::vector<float> before, after;  ///< the logits
  double divergence = 0;             ///< KL(p ‖ p′) in bits; NaN where a logit is not finite
  std::int64_t likeliest_before = -1, likeliest_after = -1;  ///< -1: not finite
  std::vector<std::string> labels;                           ///< of the logits, or empty
  /// The `most` classes that are likeliest before, then those that rise most, each once.
  [[nodiscard]] std::vector<LogitChange> greatest(std::size_t most) const;
};

/// Runs the input as it is and with the maps replaced. Throws as change_of, and for a model without
/// logits; Cancelled.
[[nodiscard]] AblatedAnswer ablate_once(const Subject& subject, const Input& input,
                                        const Ablation& ablation, const Progress& progress = {});

}  // namespace attnscope
