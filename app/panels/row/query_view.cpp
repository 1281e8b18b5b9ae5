#include "app/panels/row/query_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/figure/colour_map.h"
#include "app/look/theme.h"
#include "app/widgets/picture.h"

namespace attnscope {

namespace {

constexpr double kNameHeight = 24;  // height of the model's name above
constexpr double kPrefix = 20;      // height of class and distillation tokens above the grid
constexpr double kGap = 4;
constexpr double kPictureOverText = 0.7;  // share of a picture's height where a text is below it

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
  const bool other =
      picture.trace != picture_.trace || picture.layout.texts != picture_.layout.texts;
  picture_ = std::move(picture);
  if (other) flow_text();
  setAccessibleName(tr("Attention over the input, %1").arg(picture_.label));
  update();
}

bool QueryView::has_strip() const {
  return picture_.layout.prefix > 0 && !picture_.layout.is_text();
}

QRectF QueryView::grid_rect(std::int64_t picture) const {
  if (!picture_.trace) return {};
  const TokenLayout& layout = picture_.layout;
  const double top = kNameHeight + (has_strip() ? kPrefix + kGap : 0);
  QRectF room(0, top, width(), height() - top);
  const TokenCells cells = layout.cells(picture);
  if (cells.count() == 0) return room;
  if (layout.is_text()) room.setHeight(room.height() * kPictureOverText);
  const auto count = static_cast<double>(layout.cell_grids());
  const double wide = (room.width() - (count - 1) * kGap) / count;
  room = QRectF(static_cast<double>(picture) * (wide + kGap), room.top(), wide, room.height());
  const auto index = static_cast<std::size_t>(picture);
  return place_of_picture(room, index < images_.size() ? images_[index] : QImage(), cells);
}

QRectF QueryView::place_of(std::int64_t index) const {
  if (!picture_.trace || index < 0 || index >= std::ssize(picture_.weights)) return {};
  const TokenLayout& layout = picture_.layout;
  const std::optional<std::int64_t> picture = layout.picture_of(index);
  if (picture) return place_of_cells(grid_rect(*picture), layout.cells(*picture), index);
  if (index < std::ssize(words_)) return words_[static_cast<std::size_t>(index)];
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

bool QueryView::is_between_tiles(std::size_t token) const {
  const auto index = static_cast<std::int64_t>(token);
  return std::ranges::any_of(picture_.layout.pictures, [&](const TokenCells& picture) {
    return index > picture.first && index < picture.end() && !picture.contains(index);
  });
}

QString QueryView::word_of(std::size_t token) const {
  return is_between_tiles(token)
             ? QStringLiteral("▫")
             : QString::fromStdString(visible_text(picture_.layout.texts[token]));
}

/// Wraps the text into the available space, in the largest font that fits. Tokens that stand for a
/// picture take no space.
void QueryView::flow_text() {
  words_.clear();
  if (!picture_.trace) return;
  const std::vector<std::string>& texts = picture_.layout.texts;
  if (texts.empty() || texts.size() != picture_.weights.size()) return;
  const TokenLayout& layout = picture_.layout;
  const bool has_pictures = !layout.pictures.empty();
  QRectF room = grid_rect();
  if (has_pictures) {
    double bottom = 0;
    for (std::int64_t picture = 0; picture < layout.cell_grids(); ++picture) {
      bottom = std::max(bottom, grid_rect(picture).bottom());
    }
    room = QRectF(0, bottom + kGap, width(), height() - bottom - kGap);
  }
  const bool spaced = std::ranges::any_of(
      texts, [](const std::string& text) { return text.find(' ') != std::string::npos; });
  for (text_size_ = 15; text_size_ >= 6; --text_size_) {
    QFont letters = number_font(font());
    letters.setPixelSize(text_size_);
    const QFontMetricsF metrics(letters);
    const double high = metrics.height() * 1.15;
    words_.clear();
    // Tokens that are whole words have no spaces of their own.
    const double gap = spaced || !has_pictures ? 0 : metrics.horizontalAdvance(' ');
    double x = 0, y = room.top();
    std::size_t word = 0;  // first token of the unfinished word
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (layout.is_of_picture(static_cast<std::int64_t>(i))) {
        words_.emplace_back();
        word = i + 1;
        continue;
      }
      const double wide = metrics.horizontalAdvance(word_of(i));
      if (x > 0 && x + wide > room.width()) {
        y += high;
        x = 0;
        // A word that does not begin the line moves to the next line as a whole.
        if (word > 0 && word < i && words_[word].left() > 0) {
          const double left = words_[word].left();
          for (std::size_t k = word; k < i; ++k) {
            words_[k].moveTo(words_[k].left() - left, y);
            x = words_[k].right();
          }
        }
      }
      words_.emplace_back(x, y, wide, high);
      x += wide + gap;
      const bool between = is_between_tiles(i);
      if (between || texts[i].find_first_of(" \n") != std::string::npos) word = i + 1;
      if (!between && !texts[i].empty() && texts[i].back() == '\n') {
        y += high;
        x = 0;
      }
    }
    if (y + high <= height()) return;
  }
}

void QueryView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  flow_text();
}

void QueryView::paint_text(QPainter& painter) const {
  if (words_.empty()) return;
  const WindowColours& colours = colours_of(*this);
  const ScaleColours heat(picture_.scale);
  QFont letters = number_font(font());
  letters.setPixelSize(std::max(text_size_, 6));
  painter.setFont(letters);
  for (std::size_t token = 0; token < words_.size(); ++token) {
    if (words_[token].isEmpty()) continue;
    QColor ink = colours.muted;
    const auto fraction = token < picture_.weights.size()
                              ? fraction_of(picture_.scale, picture_.weights[token])
                              : std::nullopt;
    if (fraction) {
      const Colour legible = legible_on(heat(*fraction));
      ink = QColor(legible.red, legible.green, legible.blue);
    }
    painter.setPen(ink);
    painter.drawText(words_[token], Qt::AlignCenter, word_of(token).replace("␣", " "));
  }
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
