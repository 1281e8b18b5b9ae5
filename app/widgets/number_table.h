// How panels show tables of numbers: sortable rows, chosen whole, digits of one width.
#pragma once

#include <QString>

class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

/// In the order of the model until a column is clicked.
[[nodiscard]] QTableView* number_table(QSortFilterProxyModel& model, const QString& object_name,
                                       const QString& accessible_name);

}  // namespace attnscope
