#include "app/panels/row/query_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "analysis/figure/colour_map.h"
#include "app/look/theme.h"
#include "app/widgets/picture.h"

namespace attnscope {

namespace {

constexpr double kNameHeight = 24;  // height of the model's name above
constexpr double kPrefix = 20;      // height of class and distillation tokens above the grid
constexpr double kGap = 4;

/// The token's name or, if it does not fit, its first letter and its trailing number.
QString prefix_label(const TokenLayout& layout, std::int64_t token, double room,
                     const QPainter& painter) {
  QString name = QString::fromStdString(layout.name(token));
  if (painter.fontMetrics().horizontalAdvance(name) + 4 <= room) return name;
  const qsizetype space = name.lastIndexOf(' ');
  return name.left(1) + (space < 0 ? QString() : name.mid(space + 1));
}

}  // namespace

QueryView::QueryView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setCursor(Qt::PointingHandCursor);
}

void QueryView::set_picture(QueryPicture picture) {
  if (picture.trace != picture_.trace) {
    images_.clear();
    if (picture.trace)
      std::ranges::transform(picture.trace->images, std::back_inserter(images_), to_qimage);
  }
  const TokenLayout &now = picture.layout, &before = picture_.layout;
  const bool other = picture.trace != picture_.trace || now.texts != before.texts ||
                     now.pictures != before.pictures || now.prefix != before.prefix ||
                     now.rows != before.rows || now.columns != before.columns ||
                     picture.weights.size() != picture_.weights.size();
  const bool moved = other || picture.query != picture_.query;
  picture_ = std::move(picture);
  if (other) arrange();
  if (moved) follow_query();
  setAccessibleName(tr("Attention over the input, %1").arg(picture_.label));
  update();
}

bool QueryView::has_strip() const {
  return picture_.layout.prefix > 0 && !picture_.layout.is_text();
}

QRectF QueryView::room() const {
  const double top = kNameHeight + (has_strip() ? kPrefix + kGap : 0);
  return {0, top, static_cast<double>(width()), height() - top};
}

QRectF QueryView::grid_rect(std::int64_t picture) const {
  const auto index = static_cast<std::size_t>(picture);
  return index < places_.pictures.size() ? places_.pictures[index] : room();
}

QRectF QueryView::place_of(std::int64_t index) const {
  if (!picture_.trace || index < 0 || index >= std::ssize(picture_.weights)) return {};
  const TokenLayout& layout = picture_.layout;
  const std::optional<std::int64_t> picture = layout.picture_of(index);
  if (picture) return place_of_cells(grid_rect(*picture), layout.cells(*picture), index);
  if (index < std::ssize(places_.words)) {
    const QRectF word =
        places_.words[static_cast<std::size_t>(index)].translated(0, -first_line_ * places_.line);
    const double middle = word.center().y();
    const bool seen = middle > places_.text.top() && middle < places_.text.bottom();
    return seen ? word : QRectF();
  }
  const QRectF grid = grid_rect();
  if (index < layout.prefix) {
    const double wide = grid.width() / static_cast<double>(layout.prefix);
    return {grid.left() + static_cast<double>(index) * wide, kNameHeight,
            wide - (index + 1 < layout.prefix ? 2 : 0), kPrefix};
  }
  if (layout.cell_grids() > 0) return {};
  const auto count = static_cast<double>(std::ssize(picture_.weights) - layout.prefix);
  const double wide = grid.width() / count;
  return {grid.left() + static_cast<double>(index - layout.prefix) * wide, grid.top(), wide,
          grid.height()};
}

void QueryView::arrange() {
  places_ = {};
  if (picture_.trace) {
    TokenLayout layout = picture_.layout;
    if (layout.texts.size() != picture_.weights.size()) layout.texts.clear();
    std::vector<double> aspects;
    for (std::int64_t grid = 0; grid < layout.cell_grids(); ++grid) {
      const auto index = static_cast<std::size_t>(grid);
      const QImage image = index < images_.size() ? images_[index] : QImage();
      const QRectF shape = place_of_picture({0, 0, 1, 1}, image, layout.cells(grid));
      aspects.push_back(shape.width() / shape.height());
    }
    places_ = places_of_input(room(), aspects, layout, font());
  }
  scroll_to(first_line_);
}

void QueryView::scroll_to(int line) {
  first_line_ = std::clamp(line, 0, std::max(places_.lines - places_.lines_shown(), 0));
  update();
}

void QueryView::follow_query() {
  const auto query = static_cast<std::size_t>(picture_.query);
  if (query >= places_.words.size() || places_.words[query].isEmpty()) return;
  const double above = places_.words[query].top() - places_.text.top();
  const int line = static_cast<int>(std::lround(above / places_.line));
  if (line < first_line_) return scroll_to(line);
  scroll_to(std::max(first_line_, line + 1 - places_.lines_shown()));
}

void QueryView::wheelEvent(QWheelEvent* event) {
  constexpr int kStep = 120;  // eighths of a degree in a notch
  const int notches = event->angleDelta().y() / kStep;
  if (places_.lines <= places_.lines_shown() || notches == 0) return event->ignore();
  scroll_to(first_line_ - notches);
}

void QueryView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
  follow_query();
}

void QueryView::paint_text(QPainter& painter) const {
  if (places_.words.empty()) return;
  const WindowColours& colours = colours_of(*this);
  const ScaleColours heat(picture_.scale);
  QFont letters = number_font(font());
  letters.setPixelSize(places_.size);
  painter.setFont(letters);
  for (std::size_t token = 0; token < places_.words.size(); ++token) {
    const QRectF place = place_of(static_cast<std::int64_t>(token));
    if (place.isEmpty() || places_.words[token].isEmpty()) continue;
    QColor ink = colours.muted;
    const auto fraction = token < picture_.weights.size()
                              ? fraction_of(picture_.scale, picture_.weights[token])
                              : std::nullopt;
    if (fraction) {
      const Colour legible = legible_on(heat(*fraction));
      ink = QColor(legible.red, legible.green, legible.blue);
    }
    painter.setPen(ink);
    const QString word =
        word_of(picture_.layout, static_cast<std::int64_t>(token)).replace("␣", " ");
    // A word may be wider than the line.
    painter.drawText(place, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(word, Qt::ElideMiddle,
                                                      static_cast<int>(std::ceil(place.width()))));
  }
  const int shown = places_.lines_shown();
  if (places_.lines <= shown) return;
  // The bar tells that there are more lines, and where the seen ones are.
  constexpr double kBar = 3;
  const double unit = places_.text.height() / places_.lines;
  const QRectF track(width() - kBar, places_.text.top(), kBar, places_.text.height());
  painter.fillRect(track, colours.border);
  painter.fillRect(QRectF(track.left(), track.top() + first_line_ * unit, kBar, shown * unit),
                   colours.muted);
}

std::optional<std::int64_t> QueryView::token_at(QPointF position) const {
  if (!picture_.trace) return {};
  for (std::int64_t token = 0; token < std::ssize(picture_.weights); ++token) {
    if (place_of(token).contains(position)) return token;
  }
  return {};
}

/// The colour of a weight; over an image, small weights are more transparent.
QColor QueryView::ink_of(double weight, bool over_image) const {
  const auto fraction = fraction_of(picture_.scale, weight);
  if (!fraction) return Qt::transparent;
  const Colour colour = ScaleColours(picture_.scale)(*fraction);
  QColor ink(colour.red, colour.green, colour.blue);
  if (over_image) {
    constexpr double kLeast = 0.25;  // share of the opacity at weight 0
    ink.setAlphaF(
        static_cast<float>(picture_.opacity * (kLeast + (1 - kLeast) * std::sqrt(*fraction))));
  }
  return ink;
}

void QueryView::paint_weights(QPainter& painter) const {
  const TokenLayout& layout = picture_.layout;
  const std::int64_t all = std::ssize(picture_.weights);
  const bool coloured = std::ssize(picture_.colours) == all;
  for (std::int64_t token = 0; token < all && !coloured; ++token) {
    if (layout.picture_of(token)) continue;
    const auto weight = static_cast<double>(picture_.weights[static_cast<std::size_t>(token)]);
    painter.fillRect(place_of(token), ink_of(weight, false));
  }
  for (std::int64_t picture = 0; picture < layout.cell_grids(); ++picture) {
    paint_cells(painter, picture, coloured);
  }
}

void QueryView::paint_cells(QPainter& painter, std::int64_t picture, bool coloured) const {
  const TokenCells cells = picture_.layout.cells_of(std::ssize(picture_.weights), picture);
  if (cells.count() == 0) return;
  const bool over_image = picture < std::ssize(images_);
  // The weights are one image, because cells drawn one by one overlap or leave gaps.
  QImage overlay(static_cast<int>(cells.columns), static_cast<int>(cells.rows),
                 QImage::Format_ARGB32);
  const std::vector<double> weights = cells.spread([&](std::int64_t token) {
    return static_cast<double>(picture_.weights[static_cast<std::size_t>(token)]);
  });
  for (std::int64_t cell = 0; cell < cells.count(); ++cell) {
    QColor ink = ink_of(weights[static_cast<std::size_t>(cell)], over_image);
    if (coloured) {
      const std::int64_t token = cells.token_at(cell / cells.columns, cell % cells.columns);
      ink = picture_.colours[static_cast<std::size_t>(token)];
      if (over_image) ink.setAlphaF(static_cast<float>(picture_.opacity));
    }
    overlay.setPixelColor(static_cast<int>(cell % cells.columns),
                          static_cast<int>(cell / cells.columns), ink);
  }
  painter.drawImage(grid_rect(picture), overlay);
}

QString QueryView::in_words(std::int64_t token) const {
  const TokenLayout& layout = picture_.layout;
  QStringList lines = {QString::fromStdString(layout.name(token)), tr("Position %1").arg(token)};
  const float weight = picture_.weights[static_cast<std::size_t>(token)];
  const bool later = !picture_.of_cosines && picture_.trace->causal && picture_.query >= 0 &&
                     token > picture_.query;
  if (!picture_.colours.empty()) return lines.join('\n');
  if (later && !(weight > 0)) {
    lines << tr("Masked: it comes after the query");
  } else if (std::isnan(weight)) {
    lines << tr("Left out, or not known");
  } else {
    lines << (picture_.of_cosines ? tr("Cosine %1") : tr("Weight %1"))
                 .arg(static_cast<double>(weight), 0, 'g', 4);
  }
  return lines.join('\n');
}

bool QueryView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const asked = static_cast<QHelpEvent*>(event);
  const auto token = token_at(asked->pos());
  if (token) {
    QToolTip::showText(asked->globalPos(), in_words(*token), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

void QueryView::paintEvent(QPaintEvent*) {
  if (!picture_.trace) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const WindowColours& colours = colours_of(*this);
  const TokenLayout& layout = picture_.layout;

  const QRectF badge(0, 2, 16, 16);
  painter.setPen(Qt::NoPen);
  painter.setBrush(subject_colour(picture_.place, colours.theme));
  painter.drawRoundedRect(badge, 4, 4);
  QFont small = font();
  small.setPixelSize(10);
  small.setBold(true);
  painter.setFont(small);
  painter.setPen(colours.theme == Theme::dark ? colours.window : QColor(Qt::white));
  painter.drawText(badge, Qt::AlignCenter, QString::number(picture_.place + 1));
  painter.setFont(font());
  painter.setPen(colours.text);
  const QRectF name(22, 0, width() - 22, 20);
  painter.drawText(
      name, Qt::AlignLeft | Qt::AlignVCenter,
      fontMetrics().elidedText(picture_.label, Qt::ElideMiddle, static_cast<int>(name.width())));

  const ScaleColours heat(picture_.scale);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const QRectF grid = grid_rect(static_cast<std::int64_t>(i));
    painter.setRenderHint(QPainter::SmoothPixmapTransform, images_[i].width() > grid.width());
    painter.drawImage(grid, images_[i]);
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  paint_weights(painter);
  paint_text(painter);
  for (std::int64_t token = 0; has_strip() && token < layout.prefix; ++token) {
    const QRectF place = place_of(token);
    const auto fraction =
        fraction_of(picture_.scale, token < std::ssize(picture_.weights)
                                        ? picture_.weights[static_cast<std::size_t>(token)]
                                        : std::nan(""));
    painter.setPen(QPen(colours.border, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(place);
    QColor ink = colours.text;
    if (fraction) {
      const Colour under = heat(*fraction);
      ink = qGray(under.red, under.green, under.blue) > 140 ? QColor(Qt::black) : QColor(Qt::white);
    }
    painter.setPen(ink);
    painter.drawText(place, Qt::AlignCenter, prefix_label(layout, token, place.width(), painter));
  }

  const auto outline = [&](std::int64_t token, double width, Qt::PenStyle style) {
    const QRectF place = place_of(token);
    if (place.isEmpty()) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(QColor(0, 0, 0, 200), width + 2, style));
    painter.drawRect(place);
    painter.setPen(QPen(Qt::white, width, style));
    painter.drawRect(place);
  };
  if (picture_.hover && *picture_.hover != picture_.query) outline(*picture_.hover, 1, Qt::DotLine);
  if (picture_.outline_query) outline(picture_.query, 2, Qt::SolidLine);
}

void QueryView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto token = token_at(event->position())) emit clicked(*token);
}

void QueryView::mouseMoveEvent(QMouseEvent* event) { emit hovered(token_at(event->position())); }

void QueryView::leaveEvent(QEvent*) { emit hovered(std::nullopt); }

}  // namespace attnscope
