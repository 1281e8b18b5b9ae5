// Where panels, colour bars and legends of a figure stand.
#pragma once

#include <optional>
#include <qcustomplot.h>
#include <vector>

namespace attnscope {

/// Places a figure's elements in the pixels there are: a grid of panels with aligned frames, maps
/// with square cells, one bar beside the panels that share it, legends under their panel. It works
/// again on every resize, so a live plot needs no redraw.
class FigureLayout : public QCPLayoutInset {
  Q_OBJECT

 public:
  struct PlacedPanel {
    QCPAxisRect* axes = nullptr;
    QCPTextElement* title = nullptr;   ///< may be null
    QCPTextElement* letter = nullptr;  ///< may be null
    QCPLegend* legend = nullptr;       ///< one that stands below; else null
    int row = 0, column = 0;
    std::optional<double> aspect;  ///< width / height of the frame, where the cells are square
    QString y_label = {};     ///< the axis's own, which stands in two lines where it is too long
    QString title_text = {};  ///< the title's own, which loses its end where it is too long
  };
  struct PlacedBar {
    QCPAxisRect* axes = nullptr;
    int first_row = 0, last_row = 0;  ///< rows of the panels that share it
    int rank = 0;                     ///< 0 stands next to the panels, 1 outside it, …
  };
  struct Spacing {
    int gap = 0;      ///< between panels
    int bar_gap = 0;  ///< between panels and bar
    int bar_width = 0;
    int padding = 0;  ///< around everything
  };

  explicit FigureLayout(const Spacing& spacing) : spacing_(spacing) {}

  /// Take ownership of the elements.
  void set_title(QCPTextElement* title);
  void add(const PlacedPanel& panel);
  void add(const PlacedBar& bar);

  void updateLayout() override;

 private:
  struct Tracks;
  [[nodiscard]] Tracks measure() const;
  void place();
  /// As the frames' heights ask; whether any label changed.
  bool break_labels();
  /// As many ticks on an upright axis as labels have room, at most the usual number; whether any
  /// axis changed.
  bool thin_ticks();
  void adopt(QCPLayoutElement* element);

  Spacing spacing_;
  QCPTextElement* title_ = nullptr;
  std::vector<PlacedPanel> panels_;
  std::vector<PlacedBar> bars_;
};

/// The figures of a page in their areas, with what all of them share: bars that stand alone, and
/// one legend under everything.
class PageLayout : public QCPLayoutInset {
  Q_OBJECT

 public:
  /// `area` in shares of the page's width and height, the legend's apart.
  void add(FigureLayout* layout, const QRectF& area);
  void add_bar(QCPAxisRect* bar, const QRectF& area, int bar_width, int gap);
  void set_legend(QCPLegend* legend);

  void updateLayout() override;

 private:
  struct Bar {
    QCPAxisRect* axes;
    QRectF area;
    int width, gap;
  };

  std::vector<std::pair<FigureLayout*, QRectF>> figures_;
  std::vector<Bar> bars_;
  QCPLegend* legend_ = nullptr;
};

}  // namespace attnscope
