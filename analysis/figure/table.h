// Figures that are tables, as CSV, as LaTeX and drawn.
#pragma once

#include <string>

#include "analysis/figure/figure.h"
#include "analysis/report/report.h"

namespace attnscope {

/// The header and rows as CSV; texts that a spreadsheet would run as a formula are escaped.
[[nodiscard]] std::string table_as_csv(const Table& table);

/// The columns of the report's text. Its leading columns aligned to the left are text columns.
[[nodiscard]] Table table_of(const Report& report);

/// A tabular environment with the rules of the package booktabs: text columns left, numbers right.
/// Characters that LaTeX's fonts lack are written as tex_text (tex/words.h) says.
[[nodiscard]] std::string table_as_tex(const Table& table);

/// The table for drawing at this width: headings and the longest texts are broken into lines if the
/// type would otherwise be smaller than 6 pt.
[[nodiscard]] Table broken_table(const Table& table, double width_mm);

/// Makes the figure a drawn table: one panel of texts and three rules without axes, its height, and
/// a font size of 6.75 to 7 pt at which the widest row fits into `width_mm`. Longer texts are
/// broken: broken_table.
void make_table_figure(Figure& figure, Table table, double width_mm);

}  // namespace attnscope
