// A widget that draws with OpenGL 3.3, on the graphics card or in software.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>

class QOpenGLContext;

namespace attnscope {

/// On a graphics card its picture stays there: a QOpenGLWidget, which has Qt compose each picture
/// of the whole window with OpenGL. Where OpenGL is software, that takes longer than all else (29
/// ms of a core at 1600 × 1000, for a label that changes): there the picture is an image, which the
/// window draws as any other, and draws again without asking for a new one.
class GraphicsWidget : public QWidget {
 public:
  enum class Drawing { on_card, in_software };

  explicit GraphicsWidget(QWidget* parent);
  ~GraphicsWidget() override;

  /// How those made from now on draw; none: as suits this machine.
  static void draw(std::optional<Drawing> drawing);

  /// Asks for a new picture. QWidget::update() alone asks for none.
  void update();
  /// A new one, in device pixels; of a widget that has been shown.
  [[nodiscard]] QImage grab_picture();
  /// Whether there is a context: not before the first picture.
  [[nodiscard]] bool has_context() const;

 protected:
  /// The context is new, and current. Called again where another window has another.
  virtual void prepare_graphics() = 0;
  /// Into the framebuffer that is bound, size() · devicePixelRatioF().
  virtual void draw_graphics() = 0;
  /// The context, which is current, ends.
  virtual void free_graphics() = 0;
  /// A context was asked for, and the driver gave none.
  virtual void lack_graphics() = 0;
  /// Has them freed. Those who inherit call it as they are destroyed.
  void end_graphics();

  [[nodiscard]] QOpenGLContext* context() const;
  void make_current();
  void done_current();

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  class Surface;     // on a card
  struct Offscreen;  // in software
  [[nodiscard]] QSize pixels() const;
  [[nodiscard]] bool make_offscreen();
  void draw_offscreen();

  Surface* surface_ = nullptr;
  std::unique_ptr<Offscreen> offscreen_;
};

}  // namespace attnscope
