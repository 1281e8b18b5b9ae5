// The figures by the question that they answer, for choosers.
#pragma once

#include <QList>
#include <QString>
#include <string>
#include <vector>

#include "core/model/subject.h"

class QComboBox;

namespace attnscope {

/// A figure, or the question that the figures after it answer.
struct FigureEntry {
  QString title;       ///< title of the figure; with what it lacks, if it cannot be drawn
  std::string recipe;  ///< empty: a question
  bool fits = true;    ///< false: the open models do not allow it
};

/// Every figure but pages of several. `open`: the models that could be shown.
[[nodiscard]] QList<FigureEntry> figures_by_question(const std::vector<Subject>& open);

/// Fills a list whose items hold the names of recipes; questions and figures that do not fit cannot
/// be chosen.
void fill_figures(QComboBox& list, const QList<FigureEntry>& entries);

}  // namespace attnscope
