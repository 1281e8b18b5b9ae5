// Output of `attnscope train --study` at its end.
#pragma once

#include "analysis/training/training_study.h"

namespace attnscope {

/// Prints accuracies and ranks of every variant at equal steps and at equal accuracy to standard
/// output.
void print_study(const StudyFolder& folder);

}  // namespace attnscope
