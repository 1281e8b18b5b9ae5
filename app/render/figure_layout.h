// Layout of a figure's panels, colour bars and legends.
#pragma once

#include <optional>
#include <qcustomplot.h>
#include <vector>

namespace attnscope {

/// Places a figure's elements in the available pixels: a grid of panels with aligned frames, maps
/// with square cells, one bar next to the panels that share it, legends below their panel. It runs
/// again on every resize, so a live plot need not be redrawn.
class FigureLayout : public QCPLayoutInset {
  Q_OBJECT

 public:
  struct PlacedPanel {
    QCPAxisRect* axes = nullptr;
    QCPTextElement* title = nullptr;   ///< may be null
    QCPTextElement* letter = nullptr;  ///< may be null
    QCPLegend* legend = nullptr;       ///< a legend below the panel; otherwise null
    int row = 0, column = 0;
    std::optional<double> aspect;  ///< width / height of the frame; set if the cells are square
    QString y_label = {};          ///< the axis's full label, which is split or shortened
    QString title_text = {};       ///< the full title, which is shortened if it is too long
  };
  struct PlacedBar {
    QCPAxisRect* axes = nullptr;
    int first_row = 0, last_row = 0;  ///< first and last row of the panels that share the bar
    int rank = 0;                     ///< 0 is next to the panels, 1 outside it, …
  };
  struct Spacing {
    int gap = 0;      ///< between panels
    int bar_gap = 0;  ///< between panels and bar
    int bar_width = 0;
    int padding = 0;  ///< around the whole figure
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
  /// Splits, joins or shortens axis labels to fit the frames' heights; true if a label changed.
  bool break_labels();
  /// Length of a vertical axis label that overlaps none of the rows above and below.
  [[nodiscard]] double label_room(const PlacedPanel& panel) const;
  /// Sets the number of ticks on each vertical axis to the number of labels that fit, at most
  /// usual_ticks; true if an axis changed.
  bool thin_ticks();
  void adopt(QCPLayoutElement* element);

  Spacing spacing_;
  QCPTextElement* title_ = nullptr;
  std::vector<PlacedPanel> panels_;
  std::vector<PlacedBar> bars_;
};

/// The figures of a page in their areas, with the elements they share: separate colour bars, and
/// one legend below everything.
class PageLayout : public QCPLayoutInset {
  Q_OBJECT

 public:
  /// `area` is a fraction of the page's width and height without the legend.
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
