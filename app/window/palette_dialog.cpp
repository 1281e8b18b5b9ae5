#include "app/window/palette_dialog.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

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
  list_ = new QListWidget;
  list_->setObjectName("palette_list");
  list_->setAccessibleName(tr("Commands found"));
  list_->setUniformItemSizes(true);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 14, 14, 14);
  column->addWidget(words_);
  column->addWidget(list_, 1);
  connect(words_, &QLineEdit::textChanged, this, &PaletteDialog::filter);
  connect(words_, &QLineEdit::returnPressed, this, &PaletteDialog::choose);
  connect(list_, &QListWidget::itemActivated, this, &PaletteDialog::choose);
  filter();
}

bool PaletteDialog::eventFilter(QObject* watched, QEvent* event) {
  if (watched == words_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
      const int row = list_->currentRow() + (key == Qt::Key_Down ? 1 : -1);
      list_->setCurrentRow(std::clamp(row, 0, std::max(0, list_->count() - 1)));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
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
  for (const auto& [distance, index] : found) {
    const PaletteEntry& entry = entries_[index];
    QString text = entry.text;
    if (!entry.place.isEmpty()) text += "   ·   " + entry.place;
    if (!entry.key.isEmpty()) text += "   ·   " + entry.key;
    auto* item = new QListWidgetItem(text, list_);
    item->setData(Qt::UserRole, index);
  }
  list_->setCurrentRow(0);
}

void PaletteDialog::choose() {
  const QListWidgetItem* item = list_->currentItem();
  if (!item) return;
  // The function is copied, because it may open another dialog after this one is gone.
  const std::function<void()> run = entries_[item->data(Qt::UserRole).toLongLong()].run;
  accept();
  run();
}

}  // namespace attnscope
