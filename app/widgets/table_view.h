// A figure's table on the screen: numeric columns are sortable, Ctrl+C copies.
#pragma once

#include <QTableWidget>

#include "analysis/figure/figure.h"

namespace attnscope {

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

}  // namespace attnscope
