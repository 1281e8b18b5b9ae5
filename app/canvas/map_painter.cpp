#include "app/canvas/map_painter.h"

#include <QOpenGLFunctions_3_3_Core>
#include <QVector2D>
#include <QVector3D>
#include <QVector4D>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analysis/figure/colour_map.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr const char* map_vertices = R"(#version 330 core
uniform vec4 target;    // left, top, right, bottom in clip space
uniform vec2 part;      // part of the texture
out vec2 at;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  at = corner * part;
  gl_Position = vec4(mix(target.xy, target.zw, corner), 0.0, 1.0);
}
)";

// The arithmetic of fraction_of and ScaleColours (analysis/figure/colour_map.h) as a shader. The
// defines NORM (a ScaleNorm), APART, MAGNIFIED and GAPS (MapPainter::Variant) precede it.
constexpr const char* map_fragments = R"(
uniform sampler2D values;
uniform sampler2D colours;
uniform vec3 range;          // transformed minimum, 1 / transformed extent, threshold
uniform vec2 middle;         // ScaleColours: zero, slope
uniform bool reversed;
uniform vec3 stripe_ground, stripe_colour;
uniform float pixel_ratio;
uniform float opacity;
uniform vec2 cells;          // number in this texture
uniform vec2 cell_pixels;
in vec2 at;
out vec4 colour;

void main() {
#if MAGNIFIED
  float value = texelFetch(values, min(ivec2(at * cells), ivec2(cells) - 1), 0).r;
#else
  float value = texture(values, at).r;
#endif
#if GAPS
  // By the bits: compilers may take isnan() for always false.
  bool finite = (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u;
  if (!finite) {
    float along = mod((gl_FragCoord.x + gl_FragCoord.y) / pixel_ratio, 6.0);
    colour = vec4(along < 2.0 ? stripe_colour : stripe_ground, opacity);
    return;
  }
#endif
  float transformed = value;
#if NORM == 1
  transformed = value > 0.0 ? log(value) : -1.0e30;
#elif NORM == 2
  float x = abs(value) / range.z;
  transformed = sign(value) * log(x + sqrt(x * x + 1.0));
#endif
  float fraction = clamp((transformed - range.x) * range.y, 0.0, 1.0);
  fraction = clamp(0.5 + (fraction - middle.x) * middle.y, 0.0, 1.0);
  if (reversed) fraction = 1.0 - fraction;
  vec3 rgb = texelFetch(colours, ivec2(int(fraction * 1020.0 + 0.5), 0), 0).rgb;
#if APART
  vec2 inside = fract(at * cells) * cell_pixels;
  if (min(inside.x, inside.y) < pixel_ratio) {
    float luminance = dot(rgb, vec3(0.30, 0.59, 0.11));
    rgb = mix(rgb, vec3(luminance > 0.45 ? 0.0 : 1.0), 0.18);
  }
#endif
  colour = vec4(rgb, opacity);
}
)";

/// The 256 colours of a map with three between each two, which are fetched faster than filtered.
std::vector<std::uint8_t> with_colours_between(const ColourMap& map) {
  constexpr std::size_t kParts = 4;
  std::vector<std::uint8_t> rgba;
  for (std::size_t i = 0; i + 1 < map.colours.size(); ++i) {
    const Colour &from = map.colours[i], &to = map.colours[i + 1];
    for (std::size_t part = 0; part < kParts; ++part) {
      const auto between = [part](std::uint8_t a, std::uint8_t b) {
        const std::size_t sum = a * (kParts - part) + b * part;
        return static_cast<std::uint8_t>((sum + kParts / 2) / kParts);
      };
      rgba.insert(rgba.end(), {between(from.red, to.red), between(from.green, to.green),
                               between(from.blue, to.blue), 255});
    }
  }
  const Colour& last = map.colours.back();
  rgba.insert(rgba.end(), {last.red, last.green, last.blue, 255});
  return rgba;
}

QVector3D rgb(const QColor& colour) {
  return {static_cast<float>(colour.redF()), static_cast<float>(colour.greenF()),
          static_cast<float>(colour.blueF())};
}

double transformed(const ColourScale& scale, double value, double threshold) {
  switch (scale.norm) {
    case ScaleNorm::logarithmic:
      return std::log(value);
    case ScaleNorm::symmetric_logarithmic:
      return std::asinh(value / threshold);
    case ScaleNorm::linear:
      break;
  }
  return value;
}

}  // namespace

MapPainter::MapPainter(QOpenGLFunctions_3_3_Core& gl) : gl_(gl) {
  program({});
  nothing_.create();
  gl_.glGenTextures(1, &colours_);
  gl_.glBindTexture(GL_TEXTURE_2D, colours_);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
}

MapPainter::~MapPainter() { gl_.glDeleteTextures(1, &colours_); }

QOpenGLShaderProgram& MapPainter::program(const Variant& variant) {
  QOpenGLShaderProgram& made = programs_[variant];
  if (made.isLinked()) return made;
  std::string fragments =
      "#version 330 core\n#define NORM " + std::to_string(static_cast<int>(variant.norm));
  const auto define = [&fragments](const char* name, bool on) {
    fragments += std::string("\n#define ") + name + (on ? " 1" : " 0");
  };
  define("APART", variant.apart);
  define("MAGNIFIED", variant.magnified);
  define("GAPS", variant.gaps);
  fragments += map_fragments;
  if (!made.addShaderFromSourceCode(QOpenGLShader::Vertex, map_vertices) ||
      !made.addShaderFromSourceCode(QOpenGLShader::Fragment, fragments.c_str()) || !made.link()) {
    throw Error(ErrorKind::unsupported, "the graphics driver rejected the shaders of the maps")
        .found(made.log().toStdString())
        .remedy("update the driver, or set LIBGL_ALWAYS_SOFTWARE=1");
  }
  return made;
}

void MapPainter::take_colours(const ColourScale& scale) {
  gl_.glActiveTexture(GL_TEXTURE1);
  gl_.glBindTexture(GL_TEXTURE_2D, colours_);
  if (scale.colour_map == colour_map_) return;
  colour_map_ = scale.colour_map;
  const std::vector<std::uint8_t> colours = with_colours_between(find_colour_map(scale.colour_map));
  gl_.glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, static_cast<GLsizei>(colours.size() / 4), 1, 0,
                   GL_RGBA, GL_UNSIGNED_BYTE, colours.data());
}

void MapPainter::begin(QSize framebuffer, const QRectF& clip, double pixel_ratio,
                       const ColourScale& scale, const StripeColours& stripes, double opacity) {
  framebuffer_ = framebuffer;
  pixel_ratio_ = pixel_ratio;
  gl_.glViewport(0, 0, framebuffer.width(), framebuffer.height());
  if (opacity < 1) {
    gl_.glEnable(GL_BLEND);
    gl_.glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
  } else {
    gl_.glDisable(GL_BLEND);
  }
  gl_.glDisable(GL_DEPTH_TEST);
  gl_.glDisable(GL_CULL_FACE);
  gl_.glEnable(GL_SCISSOR_TEST);
  const QRect box = clip.toAlignedRect();
  gl_.glScissor(box.left(), framebuffer.height() - box.top() - box.height(), box.width(),
                box.height());
  nothing_.bind();
  take_colours(scale);
  gl_.glActiveTexture(GL_TEXTURE0);
  stripes_ = stripes;
  opacity_ = opacity;
  set_scale(scale);
}

void MapPainter::set_scale(const ColourScale& scale) {
  scale_ = scale;
  used_ = nullptr;
}

void MapPainter::use(const Variant& variant) {
  QOpenGLShaderProgram& wanted = program(variant);
  if (used_ == &wanted) return;
  used_ = &wanted;
  wanted.bind();
  wanted.setUniformValue("values", 0);
  wanted.setUniformValue("colours", 1);
  wanted.setUniformValue("stripe_ground", rgb(stripes_.ground));
  wanted.setUniformValue("stripe_colour", rgb(stripes_.stripe));
  wanted.setUniformValue("pixel_ratio", static_cast<float>(pixel_ratio_));
  wanted.setUniformValue("opacity", static_cast<float>(opacity_));
  wanted.setUniformValue("reversed", scale_.reversed);
  const ScaleColours colours(scale_);
  wanted.setUniformValue(
      "middle", QVector2D(static_cast<float>(colours.zero()), static_cast<float>(colours.slope())));
  const double threshold =
      std::max({std::abs(scale_.minimum), std::abs(scale_.maximum), 1e-30}) / 1000;
  double minimum = scale_.minimum;
  if (scale_.norm == ScaleNorm::logarithmic) {
    minimum = logarithmic_floor(scale_.minimum, scale_.maximum);
  }
  const double low = transformed(scale_, minimum, threshold);
  const double extent = transformed(scale_, scale_.maximum, threshold) - low;
  const bool any = std::isfinite(low) && std::isfinite(extent) && extent > 0;
  wanted.setUniformValue(
      "range", QVector3D(static_cast<float>(any ? low : 0),
                         static_cast<float>(any ? 1 / extent : 0), static_cast<float>(threshold)));
}

void MapPainter::draw(const MapTextures::Texture& texture, const QRectF& target, int level) {
  if (texture.name == 0) return;
  gl_.glBindTexture(GL_TEXTURE_2D, texture.name);
  const double width = framebuffer_.width(), height = framebuffer_.height();
  const QVector2D cells(static_cast<float>(texture.width), static_cast<float>(texture.height));
  const QVector2D cell(static_cast<float>(target.width() / texture.part_x) / cells.x(),
                       static_cast<float>(target.height() / texture.part_y) / cells.y());
  const bool apart = level == 0 && std::min(cell.x(), cell.y()) >= 14 * pixel_ratio_;
  const bool magnified = std::min(cell.x(), cell.y()) >= 1;
  use({scale_.norm, apart, magnified, texture.has_gaps});
  used_->setUniformValue("target", QVector4D(static_cast<float>(2 * target.left() / width - 1),
                                             static_cast<float>(1 - 2 * target.top() / height),
                                             static_cast<float>(2 * target.right() / width - 1),
                                             static_cast<float>(1 - 2 * target.bottom() / height)));
  used_->setUniformValue(
      "part", QVector2D(static_cast<float>(texture.part_x), static_cast<float>(texture.part_y)));
  if (magnified) used_->setUniformValue("cells", cells);
  if (apart) used_->setUniformValue("cell_pixels", cell);
  gl_.glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void MapPainter::end() {
  if (used_ != nullptr) used_->release();
  used_ = nullptr;
  nothing_.release();
  gl_.glDisable(GL_BLEND);
  gl_.glDisable(GL_SCISSOR_TEST);
  gl_.glActiveTexture(GL_TEXTURE1);
  gl_.glBindTexture(GL_TEXTURE_2D, 0);
  gl_.glActiveTexture(GL_TEXTURE0);
  gl_.glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace attnscope
