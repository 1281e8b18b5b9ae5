// The subjects that a command is about: the models it names, loaded, and run on its inputs.
#pragma once

#include <vector>

#include "analysis/figure/needs.h"
#include "app/cli/model_arguments.h"
#include "core/progress.h"

namespace attnscope {

/// Loads every model once and runs it on every input: models × inputs subjects, each with a trace,
/// in that order. A trace file is one subject, whatever the inputs. Throws Error(usage) when an
/// input or a model is missing, Error otherwise.
[[nodiscard]] std::vector<Subject> make_subjects(const ModelArguments& arguments,
                                                 const TraceRequest& request,
                                                 const Progress& progress);

/// What figures read of a run: some need more than its maps.
[[nodiscard]] TraceRequest recorded_for_figures(const FigureNeeds& needs = {});

/// The subjects of these arguments as a figure needs them: run on their inputs, or not.
[[nodiscard]] std::vector<Subject> subjects_for(const FigureNeeds& needs,
                                                const ModelArguments& arguments,
                                                const Progress& progress);

/// The models alone, not run: what they cost is in their extents.
[[nodiscard]] std::vector<Subject> make_subjects_without_traces(const ModelArguments& arguments);

}  // namespace attnscope
