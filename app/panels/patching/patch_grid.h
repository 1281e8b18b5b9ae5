// Heat map of the effects of patches, whose cells are clicked or painted.
#pragma once

#include <QStringList>
#include <QWidget>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/figure/figure.h"

namespace attnscope {

/// A click chooses a cell; a drag, or clicks with Ctrl, paint cells.
class PatchGrid : public QWidget {
  Q_OBJECT
 public:
  using Cell = std::pair<int, int>;  ///< row, column

  explicit PatchGrid(QWidget* parent = nullptr);

  /// Empty cells under these labels.
  void set_labels(const QStringList& rows, const QStringList& columns, const QString& row_title,
                  const QString& column_title);
  void set_value(const Cell& cell, double value);
  [[nodiscard]] double value(const Cell& cell) const;
  /// Symmetric about 0, up to the greatest value so far.
  [[nodiscard]] ColourScale scale() const;
  [[nodiscard]] const std::set<Cell>& painted() const { return painted_; }
  void clear_painted();
  /// The rectangle of a cell, pixels.
  [[nodiscard]] QRectF rectangle(const Cell& cell) const;

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void chosen(int row, int column);
  void painted_changed();  ///< at the end of a drag, or after a click with Ctrl
  void scale_changed();

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QRectF cells() const;
  [[nodiscard]] std::optional<Cell> cell_at(const QPointF& pixel) const;
  void toggle(const Cell& cell);
  void paint_labels(QPainter& painter) const;
  [[nodiscard]] QString words(const Cell& cell) const;

  QStringList rows_, columns_;
  QString row_title_, column_title_;
  std::vector<double> values_;  ///< rows × columns, NaN where unknown
  double greatest_ = 0;
  std::set<Cell> painted_;
  std::optional<Cell> current_, pressed_;
  bool dragged_ = false;
};

}  // namespace attnscope
