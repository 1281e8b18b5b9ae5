// Draws maps through the colour scale; values become colours only in the fragment shader.
#pragma once

#include <QColor>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <QRectF>
#include <QSize>
#include <compare>
#include <map>
#include <string>

#include "analysis/figure/figure.h"
#include "app/canvas/map_textures.h"

class QOpenGLFunctions_3_3_Core;

namespace attnscope {

/// The two colours of the stripes that mark cells without a finite value (NaN, infinite).
struct StripeColours {
  QColor ground, stripe;
};

/// All calls, including destruction, need the same OpenGL context to be current.
class MapPainter {
 public:
  /// Throws Error(unsupported) with the driver's log if the shaders do not compile.
  explicit MapPainter(QOpenGLFunctions_3_3_Core& gl);
  ~MapPainter();
  MapPainter(const MapPainter&) = delete;
  MapPainter& operator=(const MapPainter&) = delete;

  /// Starts drawing, until `end`, into a framebuffer of this size and only inside `clip`, both in
  /// device pixels from the top left. An opacity below 1 blends with the picture drawn before.
  void begin(QSize framebuffer, const QRectF& clip, double pixel_ratio, const ColourScale& scale,
             const StripeColours& stripes, double opacity = 1);
  /// Sets the colours of the values drawn from here on, for maps with their own range.
  void set_scale(const ColourScale& scale);
  /// Draws one tile over `target`, in device pixels. If `level` is 0, cells at least 14 pixels wide
  /// are separated by hairlines.
  void draw(const MapTextures::Texture& texture, const QRectF& target, int level);
  void end();

 private:
  /// The shaders of one norm. They are separate because software rendering executes all code of a
  /// shader for each pixel.
  struct Variant {
    ScaleNorm norm = ScaleNorm::linear;
    bool apart = false;      ///< hairlines between cells
    bool magnified = false;  ///< a texel covers at least a pixel: values are fetched, not filtered
    bool gaps = false;       ///< stripes where a value is not finite
    auto operator<=>(const Variant&) const = default;
  };
  QOpenGLShaderProgram& program(const Variant& variant);
  void use(const Variant& variant);
  void take_colours(const ColourScale& scale);

  QOpenGLFunctions_3_3_Core& gl_;
  std::map<Variant, QOpenGLShaderProgram> programs_;
  QOpenGLShaderProgram* used_ = nullptr;  ///< in use; has the uniforms shared by all tiles
  QOpenGLVertexArrayObject nothing_;      // the core profile requires one; the quad has no vertices
  unsigned colours_ = 0;
  std::string colour_map_;
  QSize framebuffer_;
  double pixel_ratio_ = 1, opacity_ = 1;
  ColourScale scale_;
  StripeColours stripes_;
};

}  // namespace attnscope
