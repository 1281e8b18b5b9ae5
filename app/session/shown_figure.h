// Figure requests for the open subjects.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/figure/recipe.h"
#include "analysis/spectrum/rank.h"

namespace attnscope {

class Session;
struct MatrixChoice;

/// " (4 of 12 layers)": suffix of a subject's name if only some layers are known.
[[nodiscard]] std::string of_layers(std::int64_t known, std::int64_t all);

/// A request with every subject that has a trace, and the files for the figure's command line.
[[nodiscard]] FigureRequest request_of(const Session& session);

/// Like request_of, with a single subject for which `shows` is true: the selected one, else the
/// first; without subjects if there is none.
[[nodiscard]] FigureRequest request_of_selected(const Session& session,
                                                bool (*shows)(const Trace&));

/// Sets "of", "centred" and "added", a figure's settings of the analysed matrix.
void set_matrix(const MatrixChoice& matrix, ParameterValues& settings);
/// Sets "threshold" and "share".
void set_threshold(const RankThreshold& threshold, ParameterValues& settings);

}  // namespace attnscope
