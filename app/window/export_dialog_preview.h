// A figure on its page, as large as it will be on paper.
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
  /// Instead of a figure: why there is none.
  void show_message(const QString& text);
  /// 1 is true size.
  void set_zoom(double zoom);

  /// What is shown: the pixels that a PNG of this resolution has.
  [[nodiscard]] const QImage& image() const { return image_; }
  /// Of the screen: its pixels per inch, by which a millimetre is a millimetre.
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
