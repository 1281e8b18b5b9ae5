#include "app/render/figure_layout.h"

#include <algorithm>
#include <cmath>

#include "analysis/figure/text_layout.h"
#include "app/render/panel.h"

namespace attnscope {

/// Size of a column or row in pixels: margin before the frame, frame, margin after the frame.
struct LayoutTrack {
  int before = 0, after = 0;
  double content = 0;
};

namespace {

int sum_of_margins(const std::vector<LayoutTrack>& tracks, int gap) {
  int sum = gap * std::max(0, static_cast<int>(tracks.size()) - 1);
  for (const LayoutTrack& track : tracks) sum += track.before + track.after;
  return sum;
}

QSize size_of(const QCPLayoutElement* element) {
  return element == nullptr ? QSize(0, 0) : element->minimumOuterSizeHint();
}

int height_of(const QCPLayoutElement* element) { return size_of(element).height(); }

double share_of_axis(const QCPAxis& axis, double value) {
  const QCPRange range = axis.range();
  if (axis.scaleType() == QCPAxis::stLogarithmic) {
    return std::log(value / range.lower) / std::log(range.upper / range.lower);
  }
  return (value - range.lower) / range.size();
}

/// Distance by which labels and title extend beyond a frame of the given width. QCustomPlot's
/// margins ignore it, and a tick label that the plot's edge would clip is left out.
struct Reach {
  double left = 0, right = 0;  ///< overhang of tick labels
  double text = 0;             ///< overhang of the longer of axis label and title, per side
};
Reach reach_of(const FigureLayout::PlacedPanel& panel, double frame_width) {
  const QCPAxis& axis = *panel.axes->axis(QCPAxis::atBottom);
  Reach reach;
  if (axis.visible() && axis.tickLabels()) {
    const QFontMetricsF font(axis.tickLabelFont());
    const QVector<double> ticks = axis.tickVector();
    const QVector<QString> labels = axis.tickVectorLabels();
    for (qsizetype i = 0; i < std::min(ticks.size(), labels.size()); ++i) {
      const double share = share_of_axis(axis, ticks[i]);
      if (!(share >= 0 && share <= 1)) continue;
      const double half =
          (axis.tickLabelRotation() != 0 ? font.height() : font.horizontalAdvance(labels[i])) / 2;
      reach.left = std::max(reach.left, half - share * frame_width);
      reach.right = std::max(reach.right, half - (1 - share) * frame_width);
    }
  }
  double widest = QFontMetricsF(axis.labelFont()).size(0, axis.label()).width();
  if (panel.title != nullptr) {
    widest = std::max(widest, QFontMetricsF(panel.title->font()).size(0, panel.title_text).width());
  }
  // Very long texts must not shrink the frame.
  reach.text = std::min((widest - frame_width) / 2, frame_width / 4);
  return reach;
}

/// Each line shortened to the width, with an ellipsis between its start and its end.
QString elided(const QString& text, const QFont& font, double width) {
  QStringList lines = text.split('\n');
  for (QString& line : lines) line = QFontMetricsF(font).elidedText(line, Qt::ElideMiddle, width);
  return lines.join('\n');
}

void place_frame(QCPLayoutElement* element, const QRect& frame) {
  const QMargins margins = element->margins();
  element->setOuterRect(frame.marginsAdded(margins));
}

}  // namespace

struct FigureLayout::Tracks {
  std::vector<LayoutTrack> columns, rows;
  std::vector<int> tops, headings;  ///< per row: frame to title, title height
  std::vector<int> bar_widths;      ///< widths including margins, per rank
};

void FigureLayout::adopt(QCPLayoutElement* element) {
  if (element != nullptr) addElement(element, QRectF(0, 0, 1, 1));
}

void FigureLayout::set_title(QCPTextElement* title) {
  title_ = title;
  adopt(title);
}

void FigureLayout::add(const PlacedPanel& panel) {
  panels_.push_back(panel);
  panels_.back().y_label = panel.axes->axis(QCPAxis::atLeft)->label();
  if (panel.title != nullptr) panels_.back().title_text = panel.title->text();
  adopt(panel.axes);
  adopt(panel.title);
  adopt(panel.letter);
  adopt(panel.legend);
}

void FigureLayout::add(const PlacedBar& bar) {
  bars_.push_back(bar);
  adopt(bar.axes);
}

FigureLayout::Tracks FigureLayout::measure() const {
  Tracks tracks;
  for (const PlacedPanel& panel : panels_) {
    const auto row = static_cast<std::size_t>(panel.row);
    const auto column = static_cast<std::size_t>(panel.column);
    tracks.rows.resize(std::max(tracks.rows.size(), row + 1));
    tracks.columns.resize(std::max(tracks.columns.size(), column + 1));
    const QMargins margins = panel.axes->margins();
    LayoutTrack& across = tracks.columns[column];
    across.before = std::max(across.before, margins.left());
    across.after = std::max(across.after, margins.right());
    tracks.tops.resize(tracks.rows.size());
    tracks.headings.resize(tracks.rows.size());
    tracks.tops[row] = std::max(tracks.tops[row], margins.top());
    tracks.headings[row] =
        std::max({tracks.headings[row], height_of(panel.title), height_of(panel.letter)});
    LayoutTrack& down = tracks.rows[row];
    down.before = tracks.tops[row] + tracks.headings[row];
    down.after = std::max(down.after, margins.bottom() + height_of(panel.legend));
  }
  for (const PlacedBar& bar : bars_) {
    const auto rank = static_cast<std::size_t>(bar.rank);
    tracks.bar_widths.resize(std::max(tracks.bar_widths.size(), rank + 1));
    const QMargins margins = bar.axes->margins();
    tracks.bar_widths[rank] =
        std::max(tracks.bar_widths[rank],
                 spacing_.bar_gap + margins.left() + spacing_.bar_width + margins.right());
    LayoutTrack& first = tracks.rows[static_cast<std::size_t>(bar.first_row)];
    LayoutTrack& last = tracks.rows[static_cast<std::size_t>(bar.last_row)];
    first.before = std::max(first.before, margins.top());
    last.after = std::max(last.after, margins.bottom());
  }
  return tracks;
}

void FigureLayout::updateLayout() {
  if (panels_.empty()) return;
  place();
  // Labels are broken where the panels stand with the ticks that are left.
  if (thin_ticks()) place();
  if (break_labels()) place();
}

bool FigureLayout::break_labels() {
  bool changed = false;
  for (const PlacedPanel& panel : panels_) {
    QCPAxis& axis = *panel.axes->axis(QCPAxis::atLeft);
    const int heading = panel.letter == nullptr ? height_of(panel.title) : 0;
    const int room = panel.axes->rect().height() + 2 * (panel.axes->margins().top() + heading);
    const bool fits = QFontMetricsF(axis.labelFont()).size(0, panel.y_label).width() <= room;
    const QString broken =
        fits ? panel.y_label : QString::fromStdString(in_two_lines(panel.y_label.toStdString()));
    const QString wanted = elided(broken, axis.labelFont(), label_room(panel));
    if (wanted == axis.label()) continue;
    axis.setLabel(wanted);
    panel.axes->update(QCPLayoutElement::upMargins);
    changed = true;
  }
  return changed;
}

double FigureLayout::label_room(const PlacedPanel& panel) const {
  // Labels stand at the middle of their panel, between a letter above it and the page's end.
  const double middle = panel.axes->rect().center().y();
  const double top =
      panel.letter == nullptr ? rect().top() : panel.letter->outerRect().bottom() + 1.0;
  double room = 2 * std::min(middle - top, rect().bottom() - middle);
  const QFontMetricsF metrics(panel.axes->axis(QCPAxis::atLeft)->labelFont());
  for (const PlacedPanel& other : panels_) {
    if (other.column != panel.column || other.row == panel.row) continue;
    const double apart =
        std::abs(other.axes->rect().center().y() - panel.axes->rect().center().y());
    // Two labels share the distance of their rows, unless the other one is shorter.
    const QString words = QString::fromStdString(in_two_lines(other.y_label.toStdString()));
    const double others = metrics.size(0, words).width();
    room = std::min(room, std::max(apart, 2 * apart - others) - spacing_.padding);
  }
  return std::max(room, 1.0);
}

bool FigureLayout::thin_ticks() {
  bool changed = false;
  const auto thin = [&changed](QCPAxisRect& axes, const QCPAxis& axis) {
    const int labels = axes.height() / QFontMetrics(axis.tickLabelFont()).height();
    const int wanted = std::clamp(labels, 1, usual_ticks);
    if (!axis.tickLabels() || axis.ticker()->tickCount() == wanted) return;
    axis.ticker()->setTickCount(wanted);
    axes.update(QCPLayoutElement::upPreparation);
    axes.update(QCPLayoutElement::upMargins);
    changed = true;
  };
  for (const PlacedPanel& panel : panels_) thin(*panel.axes, *panel.axes->axis(QCPAxis::atLeft));
  for (const PlacedBar& bar : bars_) thin(*bar.axes, *bar.axes->axis(QCPAxis::atRight));
  return changed;
}

void FigureLayout::place() {
  Tracks tracks = measure();
  QRect area =
      rect().adjusted(spacing_.padding, spacing_.padding, -spacing_.padding, -spacing_.padding);
  if (title_ != nullptr) {
    const int height = height_of(title_);
    title_->setOuterRect(QRect(area.left(), area.top(), area.width(), height));
    area.setTop(area.top() + height);
  }
  int bars_width = 0;
  for (const int width : tracks.bar_widths) bars_width += width;

  const auto room_across = [&] {
    return std::max(1.0, static_cast<double>(area.width() - bars_width -
                                             sum_of_margins(tracks.columns, spacing_.gap)));
  };
  // Part of the gaps next to a panel that its texts may use.
  const auto gap_before = [&](const PlacedPanel& panel) {
    return panel.column > 0 ? spacing_.gap / 2.0 : 0.0;
  };
  const auto gap_after = [&](const PlacedPanel& panel) {
    const bool last = panel.column + 1 == static_cast<int>(tracks.columns.size());
    return !last || !bars_.empty() ? spacing_.gap / 2.0 : 0.0;
  };
  // The overhang of labels depends on the frame's width and vice versa; two passes are accurate
  // enough.
  for (int pass = 0; pass < 2; ++pass) {
    const double width = room_across() / static_cast<double>(tracks.columns.size());
    for (const PlacedPanel& panel : panels_) {
      LayoutTrack& column = tracks.columns[static_cast<std::size_t>(panel.column)];
      const Reach reach = reach_of(panel, width);
      const double left = std::max(reach.left, reach.text - gap_before(panel) / 2);
      const double right = std::max(reach.right, reach.text - gap_after(panel) / 2);
      column.before = std::max(column.before, static_cast<int>(std::ceil(left)));
      column.after = std::max(column.after, static_cast<int>(std::ceil(right)));
    }
  }
  const double across = room_across();
  const double down = std::max(1, area.height() - sum_of_margins(tracks.rows, spacing_.gap));

  // Frames use the full width, which determines the height of rows with square cells.
  for (LayoutTrack& column : tracks.columns)
    column.content = across / static_cast<double>(tracks.columns.size());
  const auto wanted_height = [&](std::size_t row) {
    double height = 0;
    bool free = false;
    for (const PlacedPanel& panel : panels_) {
      if (static_cast<std::size_t>(panel.row) != row) continue;
      if (!panel.aspect) {
        free = true;
      } else {
        height = std::max(
            height, tracks.columns[static_cast<std::size_t>(panel.column)].content / *panel.aspect);
      }
    }
    return free ? 0.0 : height;
  };
  double fixed = 0;
  int free_rows = 0;
  for (std::size_t row = 0; row < tracks.rows.size(); ++row) {
    const double height = wanted_height(row);
    fixed += height;
    if (height == 0) ++free_rows;
  }
  const double share_of_free = free_rows > 0 ? down / static_cast<double>(tracks.rows.size()) : 0;
  const double room_for_fixed = down - share_of_free * free_rows;
  if (fixed > room_for_fixed) {
    for (LayoutTrack& column : tracks.columns) column.content *= room_for_fixed / fixed;
    fixed = room_for_fixed;
  }
  for (std::size_t row = 0; row < tracks.rows.size(); ++row) {
    const double height = wanted_height(row);
    tracks.rows[row].content = height > 0 ? height : (down - fixed) / free_rows;
  }

  // The remaining space surrounds the block.
  double used_width = bars_width + sum_of_margins(tracks.columns, spacing_.gap);
  for (const LayoutTrack& column : tracks.columns) used_width += column.content;
  double used_height = sum_of_margins(tracks.rows, spacing_.gap);
  for (const LayoutTrack& row : tracks.rows) used_height += row.content;
  const double left = area.left() + (area.width() - used_width) / 2;
  const double top = area.top() + (area.height() - used_height) / 2;

  std::vector<std::pair<int, int>> spans_x, spans_y;  // frames: first pixel and size
  const auto place = [this](const std::vector<LayoutTrack>& list, double start) {
    std::vector<std::pair<int, int>> spans;
    double position = start;
    for (const LayoutTrack& track : list) {
      position += track.before;
      const int first = static_cast<int>(std::lround(position));
      // Equal contents get equal sizes, whatever the rounding of their first pixel.
      spans.emplace_back(first, std::max(1, static_cast<int>(std::lround(track.content))));
      position += track.content;
      position += track.after + spacing_.gap;
    }
    return spans;
  };
  spans_x = place(tracks.columns, left);
  spans_y = place(tracks.rows, top);

  for (const PlacedPanel& panel : panels_) {
    const auto [x, width] = spans_x[static_cast<std::size_t>(panel.column)];
    const auto [y, height] = spans_y[static_cast<std::size_t>(panel.row)];
    QRect frame(x, y, width, height);
    if (panel.aspect) {
      const double fitted_width = std::min<double>(width, height * *panel.aspect);
      const int frame_width = std::max(1, static_cast<int>(std::lround(fitted_width)));
      const int frame_height =
          std::max(1, static_cast<int>(std::lround(fitted_width / *panel.aspect)));
      frame = QRect(x + (width - frame_width) / 2, y + (height - frame_height) / 2, frame_width,
                    frame_height);
    }
    place_frame(panel.axes, frame);
    const int margin_top = tracks.tops[static_cast<std::size_t>(panel.row)];
    if (panel.title != nullptr) {
      const LayoutTrack& track = tracks.columns[static_cast<std::size_t>(panel.column)];
      const double beside =
          std::min(track.before + gap_before(panel), track.after + gap_after(panel));
      panel.title->setText(
          elided(panel.title_text, panel.title->font(), width + 2 * beside + 2 * spacing_.padding));
      const int text = height_of(panel.title);
      panel.title->setOuterRect(
          QRect(frame.left(), frame.top() - margin_top - text, frame.width(), text));
    }
    if (panel.letter != nullptr) {
      const QSize size = size_of(panel.letter);
      const int start = frame.left() - panel.axes->margins().left();
      panel.letter->setOuterRect(
          QRect(start, frame.top() - margin_top - size.height(), size.width(), size.height()));
    }
    if (panel.legend != nullptr) {
      const QSize size = size_of(panel.legend);
      const int center = frame.center().x();
      const int start = std::clamp(center - size.width() / 2, area.left(),
                                   std::max(area.left(), area.right() - size.width()));
      panel.legend->setOuterRect(QRect(start, frame.bottom() + 1 + panel.axes->margins().bottom(),
                                       size.width(), size.height()));
    }
  }

  const int bars_left = static_cast<int>(std::lround(left + used_width)) - bars_width;
  for (const PlacedBar& bar : bars_) {
    int x = bars_left + spacing_.bar_gap + bar.axes->margins().left();
    for (int rank = 0; rank < bar.rank; ++rank)
      x += tracks.bar_widths[static_cast<std::size_t>(rank)];
    const auto [first_top, first_height] = spans_y[static_cast<std::size_t>(bar.first_row)];
    const auto [last_top, last_height] = spans_y[static_cast<std::size_t>(bar.last_row)];
    place_frame(bar.axes,
                QRect(x, first_top, spacing_.bar_width, last_top + last_height - first_top));
  }
}

void PageLayout::add(FigureLayout* layout, const QRectF& area) {
  figures_.emplace_back(layout, area);
  addElement(layout, area);
}

void PageLayout::add_bar(QCPAxisRect* bar, const QRectF& area, int bar_width, int gap) {
  bars_.push_back({bar, area, bar_width, gap});
  addElement(bar, area);
}

void PageLayout::set_legend(QCPLegend* legend) {
  legend_ = legend;
  addElement(legend, QRectF(0, 0, 1, 1));
}

void PageLayout::updateLayout() {
  QRect room = rect();
  if (legend_ != nullptr && legend_->itemCount() > 0) {
    const QSize size = size_of(legend_);
    const int left = room.left() + std::max(0, (room.width() - size.width()) / 2);
    const int top = room.bottom() + 1 - size.height();
    legend_->setOuterRect(QRect(left, top, size.width(), size.height()));
    room.setBottom(top - 1);
  }
  const auto placed = [&room](const QRectF& area) {
    return QRectF(room.left() + area.left() * room.width(), room.top() + area.top() * room.height(),
                  area.width() * room.width(), area.height() * room.height())
        .toRect();
  };
  for (const auto& [layout, area] : figures_) layout->setOuterRect(placed(area));
  for (const Bar& bar : bars_) {
    const QRect strip = placed(bar.area);
    const QMargins margins = bar.axes->margins();
    place_frame(bar.axes,
                QRect(strip.left() + bar.gap + margins.left(), strip.top() + margins.top(),
                      bar.width, std::max(1, strip.height() - margins.top() - margins.bottom())));
  }
}

}  // namespace attnscope
