// Queries and keys as points in a plane, dragged or moved with the arrow keys.
#pragma once

#include <QPointF>
#include <QWidget>
#include <cstddef>
#include <optional>
#include <vector>

namespace attnscope {

/// Points in the plane's units, each coordinate within ±PlaneView::extent.
struct PlaneTokens {
  std::vector<QPointF> queries, keys;
};

class PlaneView : public QWidget {
  Q_OBJECT
 public:
  static constexpr double extent = 3;

  explicit PlaneView(QWidget* parent = nullptr);

  [[nodiscard]] const PlaneTokens& tokens() const { return tokens_; }
  /// The numbers of queries and keys must be equal.
  void set_tokens(PlaneTokens tokens);
  /// True: each key has the position of its query and moves with it.
  void set_tied(bool tied);
  [[nodiscard]] bool is_tied() const { return tied_; }

  /// The position of a point of the plane in the widget, pixels.
  [[nodiscard]] QPointF pixel_of(const QPointF& point) const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 signals:
  void moved();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Handle {
    bool is_query = true;
    std::size_t index = 0;
  };
  [[nodiscard]] double radius() const;
  [[nodiscard]] QRectF plane() const;
  [[nodiscard]] QPointF point_at(const QPointF& pixel) const;
  [[nodiscard]] std::optional<Handle> handle_at(const QPointF& pixel) const;
  [[nodiscard]] const QPointF& position(const Handle& handle) const;
  void move(const Handle& handle, QPointF to);

  PlaneTokens tokens_;
  bool tied_ = false;
  std::optional<Handle> selected_;
  bool dragging_ = false;
};

}  // namespace attnscope
