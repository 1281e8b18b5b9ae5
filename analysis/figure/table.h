// Figures that are tables: as LaTeX, as CSV, and drawn.
#pragma once

#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A tabular environment with booktabs rules: text columns left, numbers right.
[[nodiscard]] std::string table_as_booktabs(const Table& table);

[[nodiscard]] std::string table_as_csv(const Table& table);

/// Makes the figure a drawn table: its one panel of texts and three rules without axes, its height,
/// and a size of type, 5.75 to 7 pt, in which the widest row fits into `width_mm`. Where one line
/// is too long for that, headings stand in two.
void make_table_figure(Figure& figure, Table table, double width_mm);

}  // namespace attnscope
