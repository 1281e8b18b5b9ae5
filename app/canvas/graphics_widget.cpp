#include "app/canvas/graphics_widget.h"

#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QOpenGLFramebufferObject>
#include <QOpenGLFunctions>
#include <QOpenGLPaintDevice>
#include <QOpenGLWidget>
#include <QPaintEvent>
#include <QPainter>
#include <QResizeEvent>
#include <QSurfaceFormat>

#include "app/canvas/graphics.h"

namespace attnscope {

namespace {

std::optional<GraphicsWidget::Drawing> wanted_drawing;

}  // namespace

class GraphicsWidget::Surface : public QOpenGLWidget {
 public:
  explicit Surface(GraphicsWidget& owner) : QOpenGLWidget(&owner), owner_(owner) {
    QSurfaceFormat format = graphics_format();
    format.setAlphaBufferSize(0);
    setFormat(format);
    setAttribute(Qt::WA_TransparentForMouseEvents);
  }

 protected:
  void initializeGL() override {
    // A widget that moves to another window gets another context.
    QObject::connect(
        context(), &QOpenGLContext::aboutToBeDestroyed, this, [this] { owner_.end_graphics(); },
        Qt::SingleShotConnection);
    owner_.prepare_graphics();
  }
  void paintGL() override {
    owner_.draw_graphics();
    // The painter does not draw on the widget itself: while a window is grabbed, widget painters
    // are redirected.
    QOpenGLPaintDevice device(owner_.pixels());
    device.setDevicePixelRatio(devicePixelRatioF());
    QPainter painter(&device);
    painter.save();
    owner_.draw_on_top(painter);
    painter.restore();
    owner_.draw_over(painter);
  }
  void resizeEvent(QResizeEvent* event) override {
    // The first non-empty size creates the context.
    QOpenGLWidget::resizeEvent(event);
    if (!event->size().isEmpty() && !isValid()) owner_.lack_graphics();
  }

 private:
  GraphicsWidget& owner_;
};

struct GraphicsWidget::Offscreen {
  QOffscreenSurface surface;
  QOpenGLContext context;
  std::unique_ptr<QOpenGLFramebufferObject> framebuffer;
  QImage drawn;         ///< draw_graphics()
  QImage picture;       ///< the same with draw_on_top()
  bool asked = true;    ///< a new picture is requested
  bool failed = false;  ///< the context could not be created

  ~Offscreen() {
    if (framebuffer && context.makeCurrent(&surface)) framebuffer.reset();
  }
};

void GraphicsWidget::draw(std::optional<Drawing> drawing) { wanted_drawing = drawing; }

GraphicsWidget::GraphicsWidget(QWidget* parent) : QWidget(parent) {
  const auto suitable = graphics_are_software() ? Drawing::in_software : Drawing::on_card;
  const Drawing drawing = wanted_drawing.value_or(suitable);
  if (drawing == Drawing::on_card) {
    surface_ = new Surface(*this);
  } else {
    offscreen_ = std::make_unique<Offscreen>();
    setAttribute(Qt::WA_OpaquePaintEvent);
  }
}

GraphicsWidget::~GraphicsWidget() {
  // The context ends with the surface, when nobody is left to notify.
  if (surface_ && surface_->context())
    QObject::disconnect(surface_->context(), nullptr, surface_, nullptr);
}

void GraphicsWidget::update() {
  if (surface_) return surface_->update();
  offscreen_->asked = true;
  QWidget::update();
}

void GraphicsWidget::update_over() { surface_ ? surface_->update() : QWidget::update(); }

QImage GraphicsWidget::grab_picture() {
  if (surface_) return surface_->grabFramebuffer();
  draw_offscreen();
  QImage picture = offscreen_->picture;
  if (picture.isNull()) return picture;
  QPainter painter(&picture);
  draw_over(painter);
  return picture;
}

bool GraphicsWidget::has_context() const {
  return surface_ ? surface_->isValid() : offscreen_->context.isValid();
}

QOpenGLContext* GraphicsWidget::context() const {
  return surface_ ? surface_->context() : &offscreen_->context;
}

void GraphicsWidget::make_current() {
  if (surface_) return surface_->makeCurrent();
  offscreen_->context.makeCurrent(&offscreen_->surface);
  if (offscreen_->framebuffer) offscreen_->framebuffer->bind();
}

void GraphicsWidget::done_current() {
  if (surface_) return surface_->doneCurrent();
  offscreen_->context.doneCurrent();
}

void GraphicsWidget::end_graphics() {
  if (!has_context()) return;
  make_current();
  free_graphics();
  done_current();
}

QSize GraphicsWidget::pixels() const {
  return QSizeF(QSizeF(size()) * devicePixelRatioF()).toSize();
}

bool GraphicsWidget::make_offscreen() {
  Offscreen& own = *offscreen_;
  if (own.failed) return false;
  if (own.context.isValid()) return true;
  own.context.setFormat(graphics_format());
  own.surface.setFormat(graphics_format());
  own.surface.create();
  own.failed = !own.context.create() || !own.context.makeCurrent(&own.surface);
  if (own.failed) {
    lack_graphics();
    return false;
  }
  prepare_graphics();
  return true;
}

void GraphicsWidget::draw_offscreen() {
  Offscreen& own = *offscreen_;
  own.asked = false;
  const QSize pixels = this->pixels();
  if (pixels.isEmpty() || !make_offscreen()) return;
  own.context.makeCurrent(&own.surface);
  if (!own.framebuffer || own.framebuffer->size() != pixels) {
    own.framebuffer = std::make_unique<QOpenGLFramebufferObject>(
        pixels, QOpenGLFramebufferObject::CombinedDepthStencil);
  }
  own.framebuffer->bind();
  own.context.functions()->glViewport(0, 0, pixels.width(), pixels.height());
  draw_graphics();
  // The fourth byte is ignored: the window is opaque behind the picture.
  own.picture = {};  // shares its rows with drawn, which would be copied to be written
  if (own.drawn.size() != pixels) own.drawn = QImage(pixels, QImage::Format_RGB32);
  own.context.functions()->glReadPixels(0, 0, pixels.width(), pixels.height(), GL_BGRA,
                                        GL_UNSIGNED_BYTE, own.drawn.bits());
  own.drawn.mirror();  // OpenGL's first row is the bottom one
  own.drawn.setDevicePixelRatio(devicePixelRatioF());
  draw_offscreen_on_top();
}

void GraphicsWidget::draw_offscreen_on_top() {
  offscreen_->picture = offscreen_->drawn;
  QPainter painter(&offscreen_->picture);
  draw_on_top(painter);
}

void GraphicsWidget::paintEvent(QPaintEvent* event) {
  if (surface_) return QWidget::paintEvent(event);
  const bool same_size = offscreen_->picture.size() == pixels();
  const Stays stays = same_size && offscreen_->asked ? what_stays() : Stays::nothing;
  if (stays != Stays::nothing) offscreen_->asked = false;
  if (stays == Stays::graphics) draw_offscreen_on_top();
  if (!same_size || offscreen_->asked) draw_offscreen();
  QPainter painter(this);
  if (offscreen_->picture.isNull()) {
    painter.fillRect(event->rect(), palette().window());
  } else {
    painter.drawImage(QPointF(), offscreen_->picture);
    draw_over(painter);
  }
}

void GraphicsWidget::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (surface_) surface_->setGeometry(rect());
}

}  // namespace attnscope
