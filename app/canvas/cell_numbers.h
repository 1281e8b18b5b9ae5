// Numbers inside cells: thousands of short texts in one draw call.
#pragma once

#include <QFont>
#include <QOpenGLBuffer>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <QPointF>
#include <QRectF>
#include <QSize>
#include <array>
#include <string_view>
#include <vector>

class QOpenGLFunctions_3_3_Core;

namespace attnscope {

/// All calls, including destruction, need the same OpenGL context to be current.
class CellNumbers {
 public:
  /// Throws Error(unsupported) if the shaders do not compile.
  explicit CellNumbers(QOpenGLFunctions_3_3_Core& gl);
  ~CellNumbers();
  CellNumbers(const CellNumbers&) = delete;
  CellNumbers& operator=(const CellNumbers&) = delete;

  /// Sets the font of the numbers added from here on; glyphs are redrawn only if it changes.
  void set_font(const QFont& font, int device_pixels);
  /// Width in device pixels.
  [[nodiscard]] double width(std::string_view number) const;
  /// Adds a number. `centre` in device pixels from the top left; `bright` text is for dark cells.
  void add(std::string_view number, QPointF centre, bool bright);
  /// Draws the added numbers inside `clip` (device pixels) and clears them.
  void draw(QSize framebuffer, const QRectF& clip);

 private:
  static constexpr std::string_view glyphs = "0123456789.-+einfa";
  struct Glyph {
    float x = 0, advance = 0;  ///< position and width in the texture, device pixels
  };
  struct Instance {
    float left, top, width, height, texture_left, texture_width, bright;
  };

  QOpenGLFunctions_3_3_Core& gl_;
  QOpenGLShaderProgram program_;
  QOpenGLVertexArrayObject layout_;
  QOpenGLBuffer buffer_;
  unsigned texture_ = 0;
  QFont font_;
  int device_pixels_ = 0;
  int height_ = 0, texture_width_ = 1;
  std::array<Glyph, glyphs.size()> metrics_;
  std::vector<Instance> instances_;
};

}  // namespace attnscope
