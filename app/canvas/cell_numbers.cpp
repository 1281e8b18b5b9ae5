#include "app/canvas/cell_numbers.h"

#include <QFontMetricsF>
#include <QImage>
#include <QOpenGLFunctions_3_3_Core>
#include <QPainter>
#include <QVector2D>
#include <cmath>
#include <cstddef>

#include "core/error.h"

namespace attnscope {

namespace {

constexpr const char* glyph_vertices = R"(#version 330 core
layout(location = 0) in vec4 box;       // left, top, width, height in pixels
layout(location = 1) in vec3 glyph;     // left, width in the texture; bright
uniform vec2 pixels;                    // size of the framebuffer
out vec2 at;
flat out float bright;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 place = box.xy + corner * box.zw;
  at = vec2(glyph.x + corner.x * glyph.y, corner.y);
  bright = glyph.z;
  gl_Position = vec4(place.x / pixels.x * 2.0 - 1.0, 1.0 - place.y / pixels.y * 2.0, 0.0, 1.0);
}
)";

constexpr const char* glyph_fragments = R"(#version 330 core
uniform sampler2D ink;
in vec2 at;
flat in float bright;
out vec4 colour;
void main() {
  colour = vec4(vec3(bright), texture(ink, at).r * 0.95);
}
)";

}  // namespace

CellNumbers::CellNumbers(QOpenGLFunctions_3_3_Core& gl)
    : gl_(gl), buffer_(QOpenGLBuffer::VertexBuffer) {
  if (!program_.addShaderFromSourceCode(QOpenGLShader::Vertex, glyph_vertices) ||
      !program_.addShaderFromSourceCode(QOpenGLShader::Fragment, glyph_fragments) ||
      !program_.link()) {
    throw Error(ErrorKind::unsupported, "the graphics driver rejected the shaders of the numbers")
        .found(program_.log().toStdString());
  }
  layout_.create();
  layout_.bind();
  buffer_.create();
  buffer_.setUsagePattern(QOpenGLBuffer::StreamDraw);
  buffer_.bind();
  const auto stride = static_cast<GLsizei>(sizeof(Instance));
  const auto offset = [](std::size_t bytes) { return reinterpret_cast<const void*>(bytes); };
  gl_.glEnableVertexAttribArray(0);
  gl_.glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, stride, offset(0));
  gl_.glVertexAttribDivisor(0, 1);
  gl_.glEnableVertexAttribArray(1);
  gl_.glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride,
                            offset(offsetof(Instance, texture_left)));
  gl_.glVertexAttribDivisor(1, 1);
  layout_.release();
  buffer_.release();
  gl_.glGenTextures(1, &texture_);
}

CellNumbers::~CellNumbers() { gl_.glDeleteTextures(1, &texture_); }

void CellNumbers::set_font(const QFont& font, int device_pixels) {
  if (device_pixels == device_pixels_ && font == font_) return;
  font_ = font;
  device_pixels_ = device_pixels;
  QFont drawn = font;
  drawn.setPixelSize(device_pixels);
  const QFontMetricsF metrics(drawn);
  height_ = static_cast<int>(std::ceil(metrics.height()));
  double x = 1;
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    const double advance = metrics.horizontalAdvance(QLatin1Char(glyphs[i]));
    metrics_[i] = {static_cast<float>(x), static_cast<float>(std::ceil(advance))};
    x += std::ceil(advance) + 2;
  }
  texture_width_ = static_cast<int>(std::ceil(x));
  QImage image(texture_width_, height_, QImage::Format_Grayscale8);
  image.fill(Qt::black);
  QPainter painter(&image);
  painter.setFont(drawn);
  painter.setPen(Qt::white);
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    painter.drawText(QPointF(metrics_[i].x, metrics.ascent()), QString(QLatin1Char(glyphs[i])));
  }
  painter.end();
  gl_.glBindTexture(GL_TEXTURE_2D, texture_);
  gl_.glPixelStorei(GL_UNPACK_ALIGNMENT, 4);  // QImage pads its lines to 4 bytes
  gl_.glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, image.width(), image.height(), 0, GL_RED,
                   GL_UNSIGNED_BYTE, image.constBits());
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  gl_.glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  gl_.glBindTexture(GL_TEXTURE_2D, 0);
}

double CellNumbers::width(std::string_view number) const {
  double width = 0;
  for (const char letter : number) {
    const std::size_t glyph = glyphs.find(letter);
    if (glyph != std::string_view::npos) width += static_cast<double>(metrics_[glyph].advance);
  }
  return width;
}

void CellNumbers::add(std::string_view number, QPointF centre, bool bright) {
  // Positions are whole pixels, because the glyphs are rendered for them.
  auto x = static_cast<float>(std::round(centre.x() - width(number) / 2));
  const auto top = static_cast<float>(std::round(centre.y() - height_ / 2.0));
  for (const char letter : number) {
    const std::size_t glyph = glyphs.find(letter);
    if (glyph == std::string_view::npos) continue;
    const Glyph& metric = metrics_[glyph];
    const auto scale = 1.0F / static_cast<float>(texture_width_);
    instances_.push_back({x, top, metric.advance, static_cast<float>(height_), metric.x * scale,
                          metric.advance * scale, bright ? 1.0F : 0.0F});
    x += metric.advance;
  }
}

void CellNumbers::draw(QSize framebuffer, const QRectF& clip) {
  if (instances_.empty()) return;
  gl_.glViewport(0, 0, framebuffer.width(), framebuffer.height());
  gl_.glEnable(GL_SCISSOR_TEST);
  const QRect box = clip.toAlignedRect();
  gl_.glScissor(box.left(), framebuffer.height() - box.top() - box.height(), box.width(),
                box.height());
  gl_.glEnable(GL_BLEND);
  // Blends the colour by the glyph's alpha; the framebuffer's alpha stays opaque.
  gl_.glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  gl_.glActiveTexture(GL_TEXTURE0);
  gl_.glBindTexture(GL_TEXTURE_2D, texture_);
  program_.bind();
  program_.setUniformValue("ink", 0);
  program_.setUniformValue("pixels", QVector2D(static_cast<float>(framebuffer.width()),
                                               static_cast<float>(framebuffer.height())));
  layout_.bind();
  buffer_.bind();
  buffer_.allocate(instances_.data(), static_cast<int>(instances_.size() * sizeof(Instance)));
  gl_.glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(instances_.size()));
  buffer_.release();
  layout_.release();
  program_.release();
  gl_.glBindTexture(GL_TEXTURE_2D, 0);
  gl_.glDisable(GL_BLEND);
  gl_.glDisable(GL_SCISSOR_TEST);
  instances_.clear();
}

}  // namespace attnscope
