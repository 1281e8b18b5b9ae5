#include "app/canvas/graphics.h"

#include <QGuiApplication>
#include <QObject>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QSurfaceFormat>

namespace attnscope {

namespace {

QString explained(const QString& found) {
  return QObject::tr(
             "The maps need OpenGL 3.3; found: %1.\nInstall the graphics driver, or Mesa "
             "(libgl1-mesa-dri), and start again.\nTables, figures and exports work without it.")
      .arg(found);
}

}  // namespace

QString why_no_graphics() {
  // Its contexts cannot be drawn into windows, and asking for one ends the program.
  const QString platform = QGuiApplication::platformName();
  if (platform == "offscreen" || platform == "minimal") {
    return explained(QObject::tr("none on the platform \"%1\"").arg(platform));
  }
  QSurfaceFormat format;
  format.setVersion(3, 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  QOpenGLContext context;
  context.setFormat(format);
  if (!context.create()) return explained(QObject::tr("none"));
  QOffscreenSurface surface;
  surface.setFormat(context.format());
  surface.create();
  if (!surface.isValid() || !context.makeCurrent(&surface)) {
    return explained(QObject::tr("none that can be drawn with"));
  }
  const bool enough = !context.isOpenGLES() && context.format().version() >= qMakePair(3, 3);
  const auto* const version = context.functions()->glGetString(GL_VERSION);
  const QString found = version ? QString::fromUtf8(reinterpret_cast<const char*>(version))
                                : QObject::tr("a driver that does not say its version");
  context.doneCurrent();
  return enough ? QString() : explained(found);
}

}  // namespace attnscope
