#include "app/widgets/map_thumbnail.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "app/look/theme.h"

namespace attnscope {

namespace {

constexpr int kSide = 116, kLetters = 10;  // pixels; in average letters if that is larger

QColor colour_of(const Colour& colour) { return {colour.red, colour.green, colour.blue}; }

}  // namespace

MapThumbnail::MapThumbnail(const QString& title, QWidget* parent) : QWidget(parent), title_(title) {
  setAccessibleName(title);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void MapThumbnail::set_map(Matrix map, const QString& words) {
  map_ = std::move(map);
  words_ = words;
  is_problem_ = false;
  setAccessibleDescription(words);
  update();
}

void MapThumbnail::set_problem(const QString& problem) {
  map_.resize(0, 0);
  words_ = problem;
  is_problem_ = true;
  setAccessibleDescription(problem);
  update();
}

void MapThumbnail::set_colour_map(const std::string& name) {
  colour_map_ = name;
  update();
}

QSize MapThumbnail::sizeHint() const {
  const int side = std::max(kSide, kLetters * fontMetrics().averageCharWidth());
  return {side, side + 2 * fontMetrics().height() + 8};
}

QSize MapThumbnail::minimumSizeHint() const { return sizeHint(); }

QRectF MapThumbnail::cells() const {
  const double line = fontMetrics().height();
  const double side = std::min<double>(width(), height() - 2 * line - 8);
  return {0, line + 3, side, side};
}

void MapThumbnail::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const WindowColours& colours = colours_of(*this);
  const QRectF square = cells();
  const int line = fontMetrics().height();
  painter.setPen(colours.text);
  painter.drawText(QRect(0, 0, width(), line), Qt::AlignLeft,
                   fontMetrics().elidedText(title_, Qt::ElideRight, width()));
  if (map_.size() == 0) {
    painter.fillRect(square, colours.sunken);
    painter.setPen(is_problem_ ? colours.warning : colours.muted);
    painter.drawText(square.adjusted(6, 6, -6, -6), Qt::AlignCenter | Qt::TextWordWrap, words_);
    return;
  }
  const ColourMap& map = find_colour_map(colour_map_);
  const double low = std::min(0.0F, map_.minCoeff()), high = map_.maxCoeff();
  const double wide = square.width() / static_cast<double>(map_.cols());
  const double tall = square.height() / static_cast<double>(map_.rows());
  for (Eigen::Index row = 0; row < map_.rows(); ++row) {
    for (Eigen::Index column = 0; column < map_.cols(); ++column) {
      const double fraction = high > low ? (map_(row, column) - low) / (high - low) : 0;
      // Cells are 0.5 pixels wider, so that the background does not show through between them.
      painter.fillRect(
          QRectF(square.left() + static_cast<double>(column) * wide,
                 square.top() + static_cast<double>(row) * tall, wide + 0.5, tall + 0.5),
          colour_of(colour_at(map, fraction)));
    }
  }
  painter.setPen(colours.muted);
  painter.drawText(QRectF(0, square.bottom() + 3, width(), line), Qt::AlignLeft, words_);
}

bool MapThumbnail::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QRectF square = cells();
  if (map_.size() == 0 || !square.contains(help->pos())) {
    QToolTip::hideText();
    return true;
  }
  const auto row = static_cast<Eigen::Index>((help->pos().y() - square.top()) / square.height() *
                                             static_cast<double>(map_.rows()));
  const auto column = static_cast<Eigen::Index>((help->pos().x() - square.left()) / square.width() *
                                                static_cast<double>(map_.cols()));
  if (row < map_.rows() && column < map_.cols()) {
    QToolTip::showText(help->globalPos(),
                       tr("query %1, key %2: %3")
                           .arg(row)
                           .arg(column)
                           .arg(static_cast<double>(map_(row, column)), 0, 'g', 4));
  }
  return true;
}

}  // namespace attnscope
