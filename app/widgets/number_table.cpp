#include "app/widgets/number_table.h"

#include <QApplication>
#include <QEvent>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "app/look/theme.h"

namespace attnscope {

namespace {

/// Table view whose number font follows the window's font size.
class NumberTable : public QTableView {
 public:
  NumberTable() { take_letters(); }

 protected:
  void changeEvent(QEvent* event) override {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::ApplicationFontChange) take_letters();
  }

 private:
  void take_letters() {
    constexpr int kAroundText = 6;  // pixels
    QFont numbers = number_font(QApplication::font());
    numbers.setPointSizeF(numbers.pointSizeF() - 0.5);
    setFont(numbers);
    verticalHeader()->setDefaultSectionSize(QFontMetrics(numbers).height() + kAroundText);
  }
};

}  // namespace

QTableView* number_table(QSortFilterProxyModel& model, const QString& object_name,
                         const QString& accessible_name) {
  auto* view = new NumberTable;
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
  view->verticalHeader()->hide();
  view->horizontalHeader()->setHighlightSections(false);
  return view;
}

}  // namespace attnscope
