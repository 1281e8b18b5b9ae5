// Updates hash codes during training from the network's own attention.
#pragma once

#include "core/progress.h"
#include "core/training/run/training_run.h"

namespace attnscope {

/// Learns the codes of every head of a run with has_learnt_codes() from its queries, keys and
/// softmax(q·k / √d), layer by layer (EcoFormer, Eq. 12 to 14; learn_hash_codes), on the recipe's
/// number of training images, and sets them in the run. Deterministic for a given recipe, step and
/// weights. Adds a row to the log's tables "codes/step", "codes/error_before" and "codes/error":
/// ‖HHᵀ − bY‖² / ‖bY‖² with random and learned A, per layer, mean over heads. Throws Error like
/// learn_hash_codes; Cancelled, with the run unchanged.
void update_codes(TrainingRun& run, const Progress& progress);

}  // namespace attnscope
