// What `attnscope train --study` prints at its end.
#pragma once

#include "analysis/training/training_study.h"

namespace attnscope {

/// Accuracies and ranks of every variant at equal steps and at equal accuracy, to standard output.
void print_study(const StudyFolder& folder);

}  // namespace attnscope
