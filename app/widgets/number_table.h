// Table view for numbers: sortable, selects whole rows, tabular digits.
#pragma once

#include <QString>

class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

/// Rows keep the model's order until a column is clicked.
[[nodiscard]] QTableView* number_table(QSortFilterProxyModel& model, const QString& object_name,
                                       const QString& accessible_name);

}  // namespace attnscope
