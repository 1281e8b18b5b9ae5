#include "app/panels/lessons/experiments/map_row.h"

#include <QEvent>
#include <QGridLayout>
#include <QResizeEvent>
#include <algorithm>
#include <utility>

#include "app/widgets/map_thumbnail.h"

namespace attnscope {

namespace {

constexpr int kBetweenMaps = 10;  // pixels

}  // namespace

MapRow::MapRow(std::vector<MapThumbnail*> maps, QWidget* parent)
    : QWidget(parent), maps_(std::move(maps)), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(kBetweenMaps);
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    grid_->addWidget(maps_[i], 0, static_cast<int>(i), Qt::AlignLeft);
  }
  arrange();
}

void MapRow::arrange() {
  if (maps_.empty()) return;
  const int each = maps_.front()->minimumSizeHint().width() + kBetweenMaps;
  const int columns = std::max(1, (width() + kBetweenMaps) / each);
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    const int index = static_cast<int>(i);
    grid_->addWidget(maps_[i], index / columns, index % columns, Qt::AlignLeft);
  }
  grid_->setColumnStretch(columns, 1);
}

QSize MapRow::minimumSizeHint() const {
  if (maps_.empty()) return QWidget::minimumSizeHint();
  return {maps_.front()->minimumSizeHint().width(), QWidget::minimumSizeHint().height()};
}

void MapRow::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

void MapRow::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) arrange();
}

}  // namespace attnscope
