// One model's input with the attention of one query, its rollout or its likeness to other tokens
// laid over it.
#pragma once

#include <QColor>
#include <QImage>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/figure/figure.h"
#include "app/panels/row/input_places.h"
#include "app/session/subject_id.h"
#include "core/trace/trace.h"

namespace attnscope {

/// The content of a QueryView.
struct QueryPicture {
  SubjectId subject = SubjectId::none;
  std::int64_t place = 0;  ///< index of the model among the open ones: number and colour
  QString label;
  std::shared_ptr<const Trace> trace;
  TokenLayout layout;          ///< positions of the keys
  std::vector<float> weights;  ///< one per key; NaN if a key is hidden
  ColourScale scale;
  std::int64_t query = 0;  ///< the key at the query's position is outlined
  bool outline_query = true;
  std::optional<std::int64_t> hover;  ///< key with a thin outline
  double opacity = 0.8;               ///< opacity of the weights over an image, 0 to 1
  bool of_cosines = false;            ///< true if the weights are cosines of tokens
  std::vector<QColor> colours = {};   ///< one per key, in place of its weight's; may be empty
};

class QueryView : public QWidget {
  Q_OBJECT
 public:
  explicit QueryView(QWidget* parent = nullptr);
  void set_picture(QueryPicture picture);
  [[nodiscard]] const QueryPicture& picture() const { return picture_; }
  /// The rectangle of token `index`; empty if it is not drawn, or a word that is scrolled away.
  [[nodiscard]] QRectF place_of(std::int64_t index) const;
  /// Tool tip of a token: name, position and weight.
  [[nodiscard]] QString in_words(std::int64_t token) const;
  [[nodiscard]] QSize sizeHint() const override { return {170, 200}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {72, 88}; }
  /// The places of pictures and words, before they are scrolled.
  [[nodiscard]] const InputPlaces& places() const { return places_; }

 signals:
  void clicked(std::int64_t token);
  void hovered(std::optional<std::int64_t> token);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  /// The room below the name and the strip.
  [[nodiscard]] QRectF room() const;
  /// The place of the grid, or of a picture in a text: several stand next to each other.
  [[nodiscard]] QRectF grid_rect(std::int64_t picture = 0) const;
  /// True for a strip of class and register tokens above the grid.
  [[nodiscard]] bool has_strip() const;
  void arrange();
  /// Scrolls the words so that `line` is the first, or as far as there are lines.
  void scroll_to(int line);
  /// Scrolls to the query's word.
  void follow_query();
  void paint_text(QPainter& painter) const;
  void paint_weights(QPainter& painter) const;
  /// Lays the weights of a picture's cells over it; `coloured`: their own colours.
  void paint_cells(QPainter& painter, std::int64_t picture, bool coloured) const;
  [[nodiscard]] QColor ink_of(double weight, bool over_image) const;
  [[nodiscard]] std::optional<std::int64_t> token_at(QPointF position) const;

  QueryPicture picture_;
  std::vector<QImage> images_;  ///< one per picture that is known
  InputPlaces places_;
  int first_line_ = 0;  ///< first line of the words that is seen
};

}  // namespace attnscope
