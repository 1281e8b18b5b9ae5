#include "app/widgets/number_table.h"

#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "app/look/theme.h"

namespace attnscope {

QTableView* number_table(QSortFilterProxyModel& model, const QString& object_name,
                         const QString& accessible_name, const QFont& font) {
  auto* view = new QTableView;
  view->setModel(&model);
  view->setAccessibleName(accessible_name);
  view->setObjectName(object_name);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  view->setSortingEnabled(true);
  view->sortByColumn(-1, Qt::AscendingOrder);
  view->setShowGrid(false);
  view->setWordWrap(false);
  view->setTabKeyNavigation(false);
  QFont numbers = number_font(font);
  numbers.setPointSizeF(numbers.pointSizeF() - 0.5);
  view->setFont(numbers);
  view->verticalHeader()->hide();
  view->verticalHeader()->setDefaultSectionSize(22);
  view->horizontalHeader()->setHighlightSections(false);
  return view;
}

}  // namespace attnscope
