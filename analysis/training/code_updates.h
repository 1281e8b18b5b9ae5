// Hash codes of a network that is learning: learnt from its own attention between two steps.
#pragma once

#include "core/progress.h"
#include "core/training/run/training_run.h"

namespace attnscope {

/// Learns the codes of every head of a run with has_learnt_codes() from its own queries, keys and
/// softmax(q·k / √d), layer by layer (EcoFormer, Eq. 12 to 14; learn_hash_codes), on as many images
/// of its data as the recipe says, and lets it go on with them. A function of the recipe, the step
/// and the weights. Adds a row to the log's tables "codes/step", "codes/error_before" and
/// "codes/error", ‖HHᵀ − bY‖² / ‖bY‖² with random and learnt A, by layer, mean over heads. Throws
/// Error as learn_hash_codes; Cancelled with the run as it was.
void update_codes(TrainingRun& run, const Progress& progress);

}  // namespace attnscope
