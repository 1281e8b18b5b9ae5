// A widget that draws with OpenGL 3.3, on the graphics card or in software.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>

class QOpenGLContext;
class QPainter;

namespace attnscope {

/// On a graphics card the picture stays there: a QOpenGLWidget makes Qt compose the whole window
/// with OpenGL. In software OpenGL that dominates the time (29 ms of a core at 1600 × 1000 for a
/// changed label); there the picture is rendered to an image, which the window paints without
/// requesting a new one.
class GraphicsWidget : public QWidget {
 public:
  enum class Drawing { on_card, in_software };

  explicit GraphicsWidget(QWidget* parent);
  ~GraphicsWidget() override;

  /// Sets how widgets created from now on draw; empty: chosen for this machine.
  static void draw(std::optional<Drawing> drawing);

  /// Requests a new picture. QWidget::update() only repaints the last one.
  void update();
  /// Requests a new draw_over(). In software the last picture stays below it.
  void update_over();
  /// Draws a new picture and returns it, in device pixels. The widget must have been shown.
  [[nodiscard]] QImage grab_picture();
  /// True once the context exists, which is after the first picture.
  [[nodiscard]] bool has_context() const;

 protected:
  /// Called with a new, current context. Called again if another window needs another context.
  virtual void prepare_graphics() = 0;
  /// Draws into the bound framebuffer of size() · devicePixelRatioF() pixels.
  virtual void draw_graphics() = 0;
  /// The part of the last picture that would be drawn the same, and need not be drawn again.
  enum class Stays {
    nothing,
    graphics,  ///< draw_graphics()
    picture    ///< draw_graphics() and draw_on_top()
  };
  [[nodiscard]] virtual Stays what_stays() { return Stays::nothing; }
  /// Draws on top of draw_graphics(), in logical pixels; in software without OpenGL, where lines
  /// and letters take several times as long by it.
  virtual void draw_on_top(QPainter&) {}
  /// Draws over the picture, in logical pixels, what changes with every move of the mouse.
  virtual void draw_over(QPainter&) {}
  /// Called before the context, which is current, is destroyed.
  virtual void free_graphics() = 0;
  /// Called when the driver did not provide a context.
  virtual void lack_graphics() = 0;
  /// Calls free_graphics(). Derived classes call it in their destructor.
  void end_graphics();

  [[nodiscard]] QOpenGLContext* context() const;
  void make_current();
  void done_current();

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  class Surface;     // on a graphics card
  struct Offscreen;  // in software
  [[nodiscard]] QSize pixels() const;
  [[nodiscard]] bool make_offscreen();
  void draw_offscreen();
  void draw_offscreen_on_top();

  Surface* surface_ = nullptr;
  std::unique_ptr<Offscreen> offscreen_;
};

}  // namespace attnscope
