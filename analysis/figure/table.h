// Figures that are tables: as CSV, and drawn. As LaTeX: tex/booktabs.h.
#pragma once

#include <string>

#include "analysis/figure/figure.h"

namespace attnscope {

/// Its header and rows; texts that a spreadsheet would run as a formula are made harmless.
[[nodiscard]] std::string table_as_csv(const Table& table);

/// As it is drawn in so much room: headings and the longest texts broken into lines where one line
/// a row would be smaller than 6 pt.
[[nodiscard]] Table broken_table(const Table& table, double width_mm);

/// Makes the figure a drawn table: its one panel of texts and three rules without axes, its height,
/// and a size of type, 6.75 to 7 pt, in which the widest row fits into `width_mm`. What is too
/// long for that is broken: broken_table.
void make_table_figure(Figure& figure, Table table, double width_mm);

}  // namespace attnscope
