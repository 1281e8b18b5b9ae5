#include "app/canvas/graphics.h"

#include <QByteArray>
#include <QGuiApplication>
#include <QObject>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <algorithm>
#include <future>
#include <memory>
#include <optional>

namespace attnscope {

namespace {

using Context = std::unique_ptr<QOpenGLContext>;

std::future<Context> loading;
std::optional<bool> software;

/// A context that belongs to the window's thread, whichever thread creates it; invalid if the
/// driver provides none.
Context new_context() {
  auto context = std::make_unique<QOpenGLContext>();
  context->setFormat(graphics_format());
  context->create();
  context->moveToThread(qApp->thread());
  return context;
}

bool is_software(const QByteArray& renderer) {
  static constexpr const char* kNames[] = {"llvmpipe", "softpipe", "swrast", "Software Rasterizer",
                                           "SwiftShader"};
  return std::ranges::any_of(kNames, [&](const char* name) { return renderer.contains(name); });
}

QString explained(const QString& found) {
  return QObject::tr(
             "The maps need OpenGL 3.3; found: %1.\nInstall the graphics driver, or Mesa "
             "(libgl1-mesa-dri), and start again.\nTables, figures and exports work without it.")
      .arg(found);
}

}  // namespace

void load_graphics() {
  // Under X11, Qt and the drivers allow queries from any thread; Wayland's plugin belongs to the
  // window's thread.
  if (loading.valid() || QGuiApplication::platformName() != "xcb") return;
  // Most of the time goes into supportsThreadedOpenGL(), for which Qt loads the driver.
  loading = std::async(std::launch::async, [] {
    return QOpenGLContext::supportsThreadedOpenGL() ? new_context() : Context();
  });
  qAddPostRoutine([] {
    if (loading.valid()) loading.get();
  });
}

QSurfaceFormat graphics_format() {
  QSurfaceFormat format;
  format.setVersion(3, 3);
  format.setProfile(QSurfaceFormat::CoreProfile);
  return format;
}

bool graphics_are_software() {
  if (!software) (void)why_no_graphics();
  return *software;
}

QString why_no_graphics() {
  software = false;
  // Contexts of these platforms cannot draw into windows, and requesting one ends the program.
  const QString platform = QGuiApplication::platformName();
  if (platform == "offscreen" || platform == "minimal") {
    return explained(QObject::tr("none on the platform \"%1\"").arg(platform));
  }
  Context context = loading.valid() ? loading.get() : Context();
  if (!context) context = new_context();
  if (!context->isValid()) return explained(QObject::tr("none"));
  QOffscreenSurface surface;
  surface.setFormat(context->format());
  surface.create();
  if (!surface.isValid() || !context->makeCurrent(&surface)) {
    return explained(QObject::tr("none that can be drawn with"));
  }
  const auto* const renderer = context->functions()->glGetString(GL_RENDERER);
  software = is_software(reinterpret_cast<const char*>(renderer));
  const bool enough = !context->isOpenGLES() && context->format().version() >= qMakePair(3, 3);
  const auto* const version = context->functions()->glGetString(GL_VERSION);
  const QString found = version ? QString::fromUtf8(reinterpret_cast<const char*>(version))
                                : QObject::tr("a driver that does not say its version");
  context->doneCurrent();
  return enough ? QString() : explained(found);
}

}  // namespace attnscope
