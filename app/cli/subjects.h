// The subjects of a command: the models it names, loaded, and run on its inputs.
#pragma once

#include <vector>

#include "analysis/figure/needs.h"
#include "app/cli/model_arguments.h"
#include "core/progress.h"

namespace attnscope {

/// Loads each model once and runs it on every input: models × inputs subjects in that order, each
/// with a trace. A trace file is one subject, whatever the inputs. With `any_input_serves` models
/// of images without an input run on zeros. Throws Error(usage) if an input or a model is missing,
/// Error otherwise.
[[nodiscard]] std::vector<Subject> make_subjects(const ModelArguments& arguments,
                                                 const TraceRequest& request,
                                                 const Progress& progress,
                                                 bool any_input_serves = false);

/// The quantities that figures read from a run; some figures need more than the maps.
[[nodiscard]] TraceRequest recorded_for_figures(const FigureNeeds& needs = {});

/// The subjects that these arguments name, run on their inputs if the figure needs runs.
[[nodiscard]] std::vector<Subject> subjects_for(const FigureNeeds& needs,
                                                const ModelArguments& arguments,
                                                const Progress& progress);

/// The models without runs; their cost follows from their dimensions.
[[nodiscard]] std::vector<Subject> make_subjects_without_traces(const ModelArguments& arguments);

}  // namespace attnscope
