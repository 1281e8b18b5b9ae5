#include "app/render/draw.h"

#include <algorithm>
#include <cmath>
#include <qcustomplot.h>

#include "analysis/figure/shared_bars.h"
#include "analysis/figure/ticks.h"
#include "app/render/cells_plottable.h"
#include "app/render/figure_layout.h"
#include "app/render/panel.h"

namespace attnscope {

Pens::Pens(const Figure& drawn, const DrawOptions& drawn_with)
    : figure(drawn),
      options(drawn_with),
      theme(colours_of(drawn_with.theme)),
      base_pt(drawn.font_size_pt),
      small_pt(std::max(std::min(6.0, drawn.font_size_pt), drawn.font_size_pt - 0.75)) {}

int Pens::pixels(double pt) const {
  return static_cast<int>(std::lround(pt * options.pixels_per_pt));
}

QFont Pens::font(double pt, bool bold) const {
  QFont font(QString::fromStdString(figure.font_family));
  font.setPixelSize(std::max(1, pixels(pt)));
  font.setBold(bold);
  font.setHintingPreference(QFont::PreferNoHinting);
  return font;
}

QPen Pens::pen(const QColor& colour, double width_pt, LineStyle style) const {
  QPen pen(colour, width_pt * options.pixels_per_pt, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
  switch (style) {
    case LineStyle::none:
      pen.setStyle(Qt::NoPen);
      break;
    case LineStyle::solid:
      break;
    case LineStyle::dashed:
      pen.setDashPattern({4, 2});
      break;
    case LineStyle::dotted:
      pen.setDashPattern({1, 1.6});
      break;
    case LineStyle::dash_dotted:
      pen.setDashPattern({5, 1.8, 1.2, 1.8});
      break;
  }
  return pen;
}

namespace {

/// Builds the elements of a figure inside a plot and passes them to a FigureLayout.
class Drawing {
 public:
  Drawing(const Figure& figure, QCustomPlot& plot, const DrawOptions& options)
      : figure_(figure), plot_(plot), pens_(figure, options) {}

  void draw() {
    clear();
    if (figure_.areas.empty() && !figure_.shared_legend) {
      FigureLayout* layout = new_layout();
      plot_.plotLayout()->addElement(0, 0, layout);
      fill(*layout, 0, figure_.show_title ? figure_.title : std::string());
      return;
    }
    auto* page = new PageLayout;
    plot_.plotLayout()->addElement(0, 0, page);
    if (figure_.shared_legend) {
      shared_legend_ = new QCPLegend;
      page->set_legend(shared_legend_);
      style(*shared_legend_);
    }
    if (figure_.areas.empty()) {
      FigureLayout* layout = new_layout();
      page->add(layout, QRectF(0, 0, 1, 1));
      fill(*layout, 0, figure_.show_title ? figure_.title : std::string());
    }
    for (std::size_t area = 0; area < figure_.areas.size(); ++area) add_area(*page, area);
    if (shared_legend_ != nullptr) wrap(*shared_legend_, 1);
  }

 private:
  FigureLayout* new_layout() {
    return new FigureLayout({.gap = pens_.pixels(5),
                             .bar_gap = pens_.pixels(5),
                             .bar_width = pens_.pixels(6),
                             .padding = pens_.pixels(1)});
  }

  /// Adds the panels and bars of one area; `layout` is already part of the plot.
  void fill(FigureLayout& layout, std::size_t area, const std::string& title) {
    if (!title.empty()) {
      layout.set_title(text(title, pens_.base_pt + 1, true, Qt::AlignCenter));
    }
    for (const Panel& panel : figure_.panels) {
      if (panel.area == area) add_panel(layout, panel);
    }
    for (const SharedBar& bar : shared_bars(figure_, area)) add_bar(layout, bar);
  }

  void add_area(PageLayout& page, std::size_t index) {
    const FigureArea& area = figure_.areas[index];
    double bottom = 0;
    for (const FigureArea& other : figure_.areas) {
      bottom = std::max(bottom, other.y_mm + other.height_mm);
    }
    const QRectF share(area.x_mm / figure_.width_mm, area.y_mm / bottom,
                       area.width_mm / figure_.width_mm, area.height_mm / bottom);
    for (std::size_t scale = 0; scale < figure_.colour_scales.size(); ++scale) {
      if (figure_.colour_scales[scale].bar_area != index) continue;
      QCPAxisRect* bar = axis_rect();
      page.add_bar(bar, share, pens_.pixels(6), pens_.pixels(2));
      set_bar(*bar, scale);
      return;
    }
    FigureLayout* layout = new_layout();
    page.add(layout, share);
    fill(*layout, index, area.title);
  }

  void clear() {
    plot_.clearItems();
    plot_.clearPlottables();
    plot_.plotLayout()->clear();
    plot_.plotLayout()->setMargins(QMargins(0, 0, 0, 0));
    plot_.plotLayout()->setAutoMargins(QCP::msNone);
    plot_.setAutoAddPlottableToLegend(false);
    plot_.setAntialiasedElements(QCP::aePlottables | QCP::aeItems | QCP::aeScatters | QCP::aeFills |
                                 QCP::aeLegendItems);
    plot_.setNoAntialiasingOnDrag(false);
    plot_.setBackground(pens_.options.transparent ? QBrush(Qt::NoBrush)
                                                  : QBrush(pens_.theme.background));
  }

  QCPTextElement* text(const std::string& content, double pt, bool bold, Qt::Alignment alignment) {
    auto* element = new QCPTextElement(&plot_, QString::fromStdString(content));
    element->setFont(pens_.font(pt, bold));
    element->setTextColor(pens_.theme.text);
    element->setTextFlags(static_cast<int>(alignment) | Qt::TextDontClip);
    element->setMargins(QMargins(0, 0, 0, pens_.pixels(1.5)));
    return element;
  }

  QCPAxisRect* axis_rect() {
    auto* axes = new QCPAxisRect(&plot_, true);
    // A fixed order, because the order of axes() varies between runs and would change a file's
    // bytes.
    for (const auto type : {QCPAxis::atLeft, QCPAxis::atBottom, QCPAxis::atRight, QCPAxis::atTop}) {
      QCPAxis* const axis = axes->axis(type);
      axis->setLayer("axes");
      axis->grid()->setLayer("grid");
      axis->setSelectableParts(QCPAxis::spNone);
    }
    return axes;
  }

  void add_panel(FigureLayout& layout, const Panel& panel) {
    FigureLayout::PlacedPanel placed;
    placed.row = static_cast<int>(panel.row);
    placed.column = static_cast<int>(panel.column);
    placed.axes = axis_rect();
    set_axes(*placed.axes, panel, pens_);
    if (panel.square_cells) {
      const PanelRange range = range_of(panel);
      placed.aspect = (range.x.upper - range.x.lower) / (range.y.upper - range.y.lower);
    }
    if (!panel.title.empty()) {
      placed.title = text(panel.title, pens_.base_pt, false, Qt::AlignHCenter | Qt::AlignBottom);
    }
    if (!panel.letter.empty()) {
      placed.letter = text(panel.letter, pens_.base_pt + 1, true, Qt::AlignLeft | Qt::AlignBottom);
    }
    if (shared_legend_ != nullptr) {
      layout.add(placed);
      add_marks(*placed.axes, panel, pens_,
                panel.legend == LegendPosition::none ? nullptr : shared_legend_);
      return;
    }
    QCPLegend* legend = panel.legend == LegendPosition::none ? nullptr : new QCPLegend;
    if (panel.legend == LegendPosition::below) placed.legend = legend;
    layout.add(placed);
    if (legend != nullptr) {
      if (placed.legend == nullptr) {
        placed.axes->insetLayout()->addElement(legend, corner(panel.legend));
        const int inset = pens_.pixels(2);
        placed.axes->insetLayout()->setMargins(QMargins(inset, inset, inset, inset));
      }
      style(*legend);  // its plot is known only after placement
    }
    add_marks(*placed.axes, panel, pens_, legend);
    if (placed.legend != nullptr) wrap(*legend, legend_share(panel));
  }

  /// Share of the plot's width for the legend below a panel: its area, or its column's part of the
  /// area if there are legends beside it.
  [[nodiscard]] double legend_share(const Panel& panel) const {
    double share =
        figure_.areas.empty() ? 1 : figure_.areas.at(panel.area).width_mm / figure_.width_mm;
    std::int64_t columns = 1;
    bool alone = true;
    for (const Panel& other : figure_.panels) {
      if (other.area != panel.area) continue;
      columns = std::max(columns, other.column + 1);
      alone = alone && (other.row != panel.row || other.column == panel.column ||
                        other.legend != LegendPosition::below);
    }
    constexpr double apart = 0.95;  // columns are not of exactly equal width
    if (!alone) share *= apart / static_cast<double>(columns);
    return share;
  }

  void style(QCPLegend& legend) {
    legend.setLayer("legend");
    legend.setFont(pens_.font(pens_.small_pt));
    legend.setTextColor(pens_.theme.text);
    legend.setIconSize(pens_.pixels(15), pens_.pixels(6));
    legend.setIconTextPadding(pens_.pixels(3));
    legend.setBorderPen(Qt::NoPen);
    QColor paper = pens_.theme.background;
    paper.setAlphaF(0.85F);
    legend.setBrush(pens_.options.transparent ? QBrush(Qt::NoBrush) : QBrush(paper));
    legend.setMargins(
        QMargins(pens_.pixels(2), pens_.pixels(1.5), pens_.pixels(2), pens_.pixels(1)));
    legend.setRowSpacing(pens_.pixels(1.2));
    legend.setColumnSpacing(pens_.pixels(8));
    legend.setSelectableParts(QCPLegend::spNone);
  }

  static Qt::Alignment corner(LegendPosition position) {
    switch (position) {
      case LegendPosition::top_left:
        return Qt::AlignTop | Qt::AlignLeft;
      case LegendPosition::top_right:
        return Qt::AlignTop | Qt::AlignRight;
      case LegendPosition::bottom_left:
        return Qt::AlignBottom | Qt::AlignLeft;
      default:
        return Qt::AlignBottom | Qt::AlignRight;
    }
  }

  /// Wraps the legend into as few rows as this share of the plot's width allows. Rows fill column
  /// by column, so list neighbours are below each other.
  void wrap(QCPLegend& legend, double share) {
    const int items = legend.itemCount();
    const int room = static_cast<int>(share * pens_.options.width_pixels);
    for (int rows = 1; rows <= items; ++rows) {
      legend.setWrap(rows);
      legend.setFillOrder(QCPLayoutGrid::foRowsFirst, true);
      if (legend.minimumOuterSizeHint().width() <= room) return;
    }
    shorten(legend, room);
  }

  /// Shortens the names of a legend in one column that is wider than `room` pixels.
  void shorten(QCPLegend& legend, int room) {
    const QFontMetricsF metrics(legend.font());
    const int names = room - (legend.minimumOuterSizeHint().width() - widest_name(legend, metrics));
    for (int i = 0; i < legend.itemCount(); ++i) {
      auto* const item = qobject_cast<QCPPlottableLegendItem*>(legend.item(i));
      if (item == nullptr) continue;
      QCPAbstractPlottable& plottable = *item->plottable();
      plottable.setName(metrics.elidedText(plottable.name(), Qt::ElideMiddle, std::max(names, 1)));
    }
  }

  static int widest_name(const QCPLegend& legend, const QFontMetricsF& metrics) {
    double widest = 0;
    for (int i = 0; i < legend.itemCount(); ++i) {
      auto* const item = qobject_cast<QCPPlottableLegendItem*>(legend.item(i));
      if (item == nullptr) continue;
      widest = std::max(widest, metrics.horizontalAdvance(item->plottable()->name()));
    }
    return static_cast<int>(std::ceil(widest));
  }

  void add_bar(FigureLayout& layout, const SharedBar& bar) {
    QCPAxisRect* const axes = axis_rect();
    layout.add(FigureLayout::PlacedBar{axes, static_cast<int>(bar.first_row),
                                       static_cast<int>(bar.last_row), static_cast<int>(bar.rank)});
    set_bar(*axes, bar.colour_scale);
  }

  void set_bar(QCPAxisRect& axes, std::size_t scale_index) {
    const ColourScale& scale = figure_.colour_scales[scale_index];
    const Clipping clipping = clipping_of(figure_, scale_index);
    for (QCPAxis* axis : axes.axes()) {
      axis->setVisible(true);
      axis->setTicks(false);
      axis->setTickLabels(false);
      axis->setBasePen(pens_.pen(pens_.theme.faint, 0.35));
      axis->grid()->setVisible(false);
    }
    const int over = pens_.pixels(pens_.small_pt / 2);
    const int arrow = pens_.pixels(5);
    axes.setMinimumMargins(QMargins(0, clipping.above ? std::max(over, arrow) : over, 0,
                                    clipping.below ? std::max(over, arrow) : over));
    QCPAxis* right = axes.axis(QCPAxis::atRight);
    set_bar_axis(*right, scale, pens_);
    new GradientPlottable(axes.axis(QCPAxis::atBottom), right, scale, clipping, arrow,
                          pens_.pen(pens_.theme.faint, 0.35));
  }

  const Figure& figure_;
  QCustomPlot& plot_;
  Pens pens_;
  QCPLegend* shared_legend_ = nullptr;
};

}  // namespace

void draw(const Figure& figure, QCustomPlot& plot, const DrawOptions& options) {
  Drawing(figure, plot, options).draw();
}

void draw(const Figure& figure, QCustomPlot& plot, FigureTheme theme) {
  DrawOptions options;
  options.theme = theme;
  options.width_pixels = plot.width();
  // Font sizes are those on paper, and larger if the plot is larger than the paper.
  const double inch = plot.logicalDpiX();
  const double across = plot.width() / (figure.width_mm / 25.4 * inch);
  const double down = plot.height() / (figure.height_mm / 25.4 * inch);
  options.pixels_per_pt = inch / 72 * std::clamp(std::min(across, down), 1.0, 1.6);
  draw(figure, plot, options);
}

}  // namespace attnscope
