#include "app/window/export_dialog_preview.h"

#include <QPainter>
#include <QScreen>

#include "app/look/theme.h"
#include "app/render/render.h"

namespace attnscope {

/// The page: white, a checkerboard for a transparent background, or a message.
class FigurePreview::Sheet : public QWidget {
 public:
  explicit Sheet(FigurePreview& preview) : preview_(preview) {}

  void set_message(const QString& text) {
    message_ = text;
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    if (!message_.isEmpty()) {
      painter.setPen(colours_of(*this).muted);
      painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                       message_);
      return;
    }
    const QImage& image = preview_.image();
    const QSizeF size = image.deviceIndependentSize();
    const QRectF page(QPointF(std::round((width() - size.width()) / 2),
                              std::round((height() - size.height()) / 2)),
                      size);
    if (preview_.transparent_) {
      constexpr int square = 8;
      painter.fillRect(page, Qt::white);
      painter.setClipRect(page);
      for (int y = 0; y * square < page.height(); ++y) {
        for (int x = y % 2; x * square < page.width(); x += 2) {
          painter.fillRect(
              QRectF(page.left() + x * square, page.top() + y * square, square, square),
              QColor(226, 226, 226));
        }
      }
      painter.setClipping(false);
    }
    painter.drawImage(page.topLeft(), image);
    painter.setPen(colours_of(*this).border);
    painter.drawRect(page.adjusted(-1, -1, 0, 0));
  }

 private:
  FigurePreview& preview_;
  QString message_;
};

FigurePreview::FigurePreview(QWidget* parent) : QScrollArea(parent) {
  setObjectName("export_preview");
  setAccessibleName(tr("Preview of the figure"));
  setWidgetResizable(true);
  setAlignment(Qt::AlignCenter);
  sheet_ = new Sheet(*this);
  setWidget(sheet_);
}

double FigurePreview::screen_dpi() const {
  // The size that a screen reports may be wrong.
  const QScreen* const shown_on = screen();
  if (shown_on == nullptr) return logicalDpiX();
  const double dpi = shown_on->physicalDotsPerInchX();
  return dpi >= 60 && dpi <= 400 ? dpi : shown_on->logicalDotsPerInchX();
}

void FigurePreview::show_figure(const Figure& figure, bool transparent) {
  figure_ = figure;
  transparent_ = transparent;
  has_figure_ = true;
  setAccessibleDescription({});
  sheet_->set_message({});
  draw();
}

void FigurePreview::show_message(const QString& text) {
  has_figure_ = false;
  image_ = QImage();
  setAccessibleDescription(text);
  sheet_->setMinimumSize(0, 0);
  sheet_->set_message(text);
}

void FigurePreview::set_zoom(double zoom) {
  zoom_ = zoom;
  if (has_figure_) draw();
}

void FigurePreview::draw() {
  constexpr int margin = 24;
  const double ratio = devicePixelRatioF();
  image_ = figure_as_image(figure_, screen_dpi() * zoom_ * ratio, transparent_);
  image_.setDevicePixelRatio(ratio);
  const QSize size = image_.deviceIndependentSize().toSize();
  sheet_->setMinimumSize(size + QSize(2 * margin, 2 * margin));
  sheet_->update();
}

}  // namespace attnscope
