// Tables on the screen.
#pragma once

#include <QString>
#include <QTableWidget>

#include "analysis/figure/figure.h"

class QSortFilterProxyModel;
class QTableView;

namespace attnscope {

/// A figure's table: numeric columns are sortable, Ctrl+C copies.
class TableView : public QTableWidget {
  Q_OBJECT
 public:
  explicit TableView(QWidget* parent = nullptr);
  void set_table(const Table& table);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit_columns();
};

/// A table view for numbers: sortable, selects whole rows, tabular digits. Rows keep the model's
/// order until a column is clicked.
[[nodiscard]] QTableView* number_table(QSortFilterProxyModel& model, const QString& object_name,
                                       const QString& accessible_name);

}  // namespace attnscope
