#include "app/widgets/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <algorithm>

#include "app/look/theme.h"

namespace attnscope {

namespace {

/// Sorts by the number in the cell; a cell without a number counts as ∞.
class NumberItem : public QTableWidgetItem {
 public:
  using QTableWidgetItem::QTableWidgetItem;
  bool operator<(const QTableWidgetItem& other) const override { return key(*this) < key(other); }

 private:
  static double key(const QTableWidgetItem& item) {
    QString text = item.text();
    if (text.startsWith("N^")) text.remove(0, 2);
    bool is_number = false;
    const double value = text.toDouble(&is_number);
    return is_number ? value : std::numeric_limits<double>::infinity();
  }
};

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

TableView::TableView(QWidget* parent) : QTableWidget(parent) {
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(24);
  horizontalHeader()->setHighlightSections(false);
  setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
}

void TableView::set_table(const Table& table) {
  setSortingEnabled(false);
  setColumnCount(static_cast<int>(table.header.size()));
  setRowCount(static_cast<int>(table.rows.size()));
  QStringList header;
  for (const std::string& name : table.header) header << QString::fromStdString(name);
  setHorizontalHeaderLabels(header);
  std::string above;
  for (int row = 0; row < rowCount(); ++row) {
    for (int column = 0; column < columnCount(); ++column) {
      const auto& cells = table.rows[static_cast<std::size_t>(row)];
      const auto at = static_cast<std::size_t>(column);
      const bool is_number = at >= table.text_columns;
      // An empty first cell continues the row above, from which sorting would separate it.
      if (column == 0 && !cells[0].empty()) above = cells[0];
      const QString text = QString::fromStdString(column == 0 ? above : cells[at]);
      auto* item = is_number ? new NumberItem(text) : new QTableWidgetItem(text);
      item->setToolTip(text);
      if (is_number) {
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        item->setFont(number_font(font()));
      }
      setItem(row, column, item);
    }
  }
  setSortingEnabled(true);
  // Rows keep the figure's order until a header is clicked.
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  fit_columns();
}

void TableView::fit_columns() {
  resizeColumnsToContents();
  int needed = 0;
  for (int column = 0; column < columnCount(); ++column) {
    setColumnWidth(column, columnWidth(column) + 8);
    needed += columnWidth(column);
  }
  const int spare = viewport()->width() - needed;
  if (spare <= 0 || columnCount() == 0) return;
  for (int column = 0; column < columnCount(); ++column) {
    setColumnWidth(column, columnWidth(column) + spare / columnCount());
  }
}

void TableView::resizeEvent(QResizeEvent* event) {
  QTableWidget::resizeEvent(event);
  fit_columns();
}

void TableView::keyPressEvent(QKeyEvent* event) {
  if (!event->matches(QKeySequence::Copy)) return QTableWidget::keyPressEvent(event);
  QStringList lines;
  QStringList header;
  for (int column = 0; column < columnCount(); ++column) {
    header << horizontalHeaderItem(column)->text();
  }
  lines << header.join('\t');
  for (int row = 0; row < rowCount(); ++row) {
    if (!selectedItems().isEmpty() && !item(row, 0)->isSelected()) continue;
    QStringList cells;
    for (int column = 0; column < columnCount(); ++column) cells << item(row, column)->text();
    lines << cells.join('\t');
  }
  QGuiApplication::clipboard()->setText(lines.join('\n'));
}

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
