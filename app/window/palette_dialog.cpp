#include "app/window/palette_dialog.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace attnscope {

int palette_distance(const QString& text, const QString& typed) {
  int distance = 0;
  qsizetype at = -1;
  for (const QChar letter : typed) {
    if (letter.isSpace()) continue;
    const qsizetype found = text.indexOf(letter, at + 1, Qt::CaseInsensitive);
    if (found < 0) return -1;
    const bool begins_word = found == 0 || !text[found - 1].isLetterOrNumber();
    if (found != at + 1 && !begins_word) distance += 10;
    distance += static_cast<int>(found - at - 1);
    at = found;
  }
  return distance;
}

PaletteDialog::PaletteDialog(QList<PaletteEntry> entries, QWidget* parent)
    : QDialog(parent), entries_(std::move(entries)) {
  setWindowTitle(tr("Commands"));
  resize(560, 420);
  words_ = new QLineEdit;
  words_->setObjectName("palette_words");
  words_->setPlaceholderText(tr("Type a few letters of what you want to do"));
  words_->setAccessibleName(tr("Find a command"));
  words_->installEventFilter(this);
  list_ = new QTreeWidget;
  list_->setObjectName("palette_list");
  list_->setAccessibleName(tr("Commands found"));
  list_->setColumnCount(2);
  list_->setHeaderHidden(true);
  list_->setRootIsDecorated(false);
  list_->setItemsExpandable(false);
  list_->setUniformRowHeights(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  list_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 14, 14, 14);
  column->addWidget(words_);
  column->addWidget(list_, 1);
  connect(words_, &QLineEdit::textChanged, this, &PaletteDialog::filter);
  connect(words_, &QLineEdit::returnPressed, this, &PaletteDialog::choose);
  connect(list_, &QTreeWidget::itemActivated, this, &PaletteDialog::choose);
  filter();
}

bool PaletteDialog::eventFilter(QObject* watched, QEvent* event) {
  if (watched == words_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
      move(key == Qt::Key_Down ? 1 : -1);
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

/// Goes to the next or previous command, over the headings.
void PaletteDialog::move(int by) {
  QTreeWidgetItem* item = list_->currentItem();
  do {
    if (item != nullptr) item = by > 0 ? list_->itemBelow(item) : list_->itemAbove(item);
  } while (item != nullptr && item->parent() == nullptr);
  if (item != nullptr) list_->setCurrentItem(item);
}

void PaletteDialog::filter() {
  std::vector<std::pair<int, qsizetype>> found;
  for (qsizetype i = 0; i < entries_.size(); ++i) {
    const int distance =
        palette_distance(entries_[i].text + " " + entries_[i].place, words_->text());
    if (distance >= 0) found.emplace_back(distance, i);
  }
  std::ranges::stable_sort(found, {}, &std::pair<int, qsizetype>::first);
  list_->clear();
  std::map<QString, QTreeWidgetItem*> headings;
  for (const auto& [distance, index] : found) {
    const PaletteEntry& entry = entries_[index];
    const QString place = entry.place.isEmpty() ? tr("Further") : entry.place;
    QTreeWidgetItem*& heading = headings[place];
    if (heading == nullptr) {
      heading = new QTreeWidgetItem(list_, {place});
      heading->setFlags(Qt::ItemIsEnabled);
      heading->setForeground(0, palette().brush(QPalette::PlaceholderText));
      heading->setFirstColumnSpanned(true);
    }
    auto* item = new QTreeWidgetItem(heading, {entry.text, entry.key});
    item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    item->setToolTip(0, entry.text);
    item->setData(0, Qt::UserRole, index);
  }
  list_->expandAll();
  if (list_->topLevelItemCount() > 0) list_->setCurrentItem(list_->topLevelItem(0)->child(0));
}

void PaletteDialog::choose() {
  const QTreeWidgetItem* item = list_->currentItem();
  if (item == nullptr || item->parent() == nullptr) return;
  // The function is copied, because it may open another dialog after this one is gone.
  const std::function<void()> run = entries_[item->data(0, Qt::UserRole).toLongLong()].run;
  accept();
  run();
}

}  // namespace attnscope
