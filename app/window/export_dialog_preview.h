// Preview of a figure on its page, at its size on paper.
#pragma once

#include <QImage>
#include <QScrollArea>

#include "analysis/figure/figure.h"

namespace attnscope {

class FigurePreview : public QScrollArea {
  Q_OBJECT
 public:
  explicit FigurePreview(QWidget* parent = nullptr);

  void show_figure(const Figure& figure, bool transparent);
  /// Shows a message instead of a figure, such as the reason why there is none.
  void show_message(const QString& text);
  /// Sets the zoom; 1 is the size on paper.
  void set_zoom(double zoom);

  /// The displayed image, with the pixels of a PNG at this resolution.
  [[nodiscard]] const QImage& image() const { return image_; }
  /// The screen's resolution in pixels per inch, from which the true size is computed.
  [[nodiscard]] double screen_dpi() const;

 private:
  class Sheet;
  void draw();

  Sheet* sheet_;
  Figure figure_;
  QImage image_;
  double zoom_ = 1;
  bool transparent_ = false, has_figure_ = false;
};

}  // namespace attnscope
