// An image's tokens on its grid, coloured by group; a drag selects a rectangle of patches.
#pragma once

#include <QColor>
#include <QImage>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

class GridPainter : public QWidget {
  Q_OBJECT
 public:
  explicit GridPainter(QWidget* parent = nullptr);

  /// `grounds` has a colour for each token, an invalid one for tokens of no group. The selection
  /// stays unless the trace is another.
  void set_content(std::shared_ptr<const Trace> trace, std::vector<QColor> grounds);
  void clear_selection();
  /// The tokens of the dragged rectangle, ascending.
  [[nodiscard]] std::vector<std::int64_t> selected_tokens() const;
  /// The rectangle of a token in the widget.
  [[nodiscard]] QRectF place_of(std::int64_t token) const;
  [[nodiscard]] QSize sizeHint() const override { return {240, 190}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, 120}; }

 signals:
  void selection_changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QRectF grid_rect() const;
  [[nodiscard]] std::optional<std::int64_t> token_at(QPointF place) const;

  std::shared_ptr<const Trace> trace_;
  QImage image_;
  std::vector<QColor> grounds_;
  std::optional<std::int64_t> first_, last_;  ///< opposite corners of the selection
};

}  // namespace attnscope
