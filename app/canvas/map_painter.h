// Draws maps through the colour scale: values stay values until the fragment shader.
#pragma once

#include <QColor>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <QRectF>
#include <QSize>
#include <map>
#include <string>
#include <utility>

#include "analysis/figure/figure.h"
#include "app/canvas/map_textures.h"

class QOpenGLFunctions_3_3_Core;

namespace attnscope {

/// The two colours of the stripes that stand for "no value" (NaN, infinite).
struct StripeColours {
  QColor ground, stripe;
};

/// All calls with the same OpenGL context current, destruction too.
class MapPainter {
 public:
  /// Throws Error(unsupported) with the driver's log if the shaders do not compile.
  explicit MapPainter(QOpenGLFunctions_3_3_Core& gl);
  ~MapPainter();
  MapPainter(const MapPainter&) = delete;
  MapPainter& operator=(const MapPainter&) = delete;

  /// Until `end`: draws into a framebuffer of this size, inside `clip` alone, both in device
  /// pixels from the top left; below an opacity of 1 what is drawn already shows through.
  void begin(QSize framebuffer, const QRectF& clip, double pixel_ratio, const ColourScale& scale,
             const StripeColours& stripes, double opacity = 1);
  /// From here on other values have these colours: those of a map with a range of its own.
  void set_scale(const ColourScale& scale);
  /// One tile over `target`, in device pixels; cells at least 14 pixels wide are set apart by
  /// hairlines where `level` is 0.
  void draw(const MapTextures::Texture& texture, const QRectF& target, int level);
  void end();

 private:
  /// The shaders of one norm, with or without hairlines between cells: software draws each pixel by
  /// all that is in them, whether it is wanted or not.
  QOpenGLShaderProgram& program(ScaleNorm norm, bool apart);
  void use(bool apart);
  void take_colours(const ColourScale& scale);

  QOpenGLFunctions_3_3_Core& gl_;
  std::map<std::pair<ScaleNorm, bool>, QOpenGLShaderProgram> programs_;
  QOpenGLShaderProgram* used_ = nullptr;  ///< with all that holds for more than one tile
  QOpenGLVertexArrayObject nothing_;  // core profile wants one bound; the quad needs no vertices
  unsigned colours_ = 0;
  std::string colour_map_;
  QSize framebuffer_;
  double pixel_ratio_ = 1, opacity_ = 1;
  ColourScale scale_;
  StripeColours stripes_;
};

}  // namespace attnscope
