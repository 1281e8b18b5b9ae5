// Figures that are tables: as LaTeX, as CSV, and drawn.
#pragma once

#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A tabular environment with booktabs rules: text columns left, numbers right.
[[nodiscard]] std::string table_as_booktabs(const Table& table);

[[nodiscard]] std::string table_as_csv(const Table& table);

/// The table drawn: texts and three rules, without axes.
[[nodiscard]] Panel table_panel(const Table& table);

/// A type size, 4 to 7 pt, in which the widest row of a table_panel fits into `width_mm`.
[[nodiscard]] double table_font_pt(const Panel& table, double width_mm);

}  // namespace attnscope
