// The program without OpenGL or with an old version of it, run as a separate process.
#include <QImage>
#include <QLabel>
#include <QProcess>
#include <gtest/gtest.h>

#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

struct ProgramRun {
  bool ended = false;
  int status = -1;
  QString errors;
  QImage picture;
};

class GraphicsTest : public WindowTest {
 protected:
  ProgramRun shoot(const QStringList& environment) {
    const auto file = write_sample("maps.h5", sample_trace(2, 3, 3, 1));
    const QString picture = QString::fromStdString((folder() / "picture.png").string());
    QProcess program;
    QProcessEnvironment all = QProcessEnvironment::systemEnvironment();
    all.insert("HOME", QString::fromStdString(folder().string()));
    for (const QString& one : environment) {
      all.insert(one.section('=', 0, 0), one.section('=', 1));
    }
    program.setProcessEnvironment(all);
    program.start(QString::fromStdString(built_program()),
                  {"gui", QString::fromStdString(file.string()), "--screenshot", picture, "--size",
                   "1200x800"});
    ProgramRun run;
    run.ended = program.waitForFinished(60'000);
    if (!run.ended) program.kill();
    run.status = program.exitStatus() == QProcess::NormalExit ? program.exitCode() : -1;
    run.errors = QString::fromUtf8(program.readAllStandardError());
    run.picture = QImage(picture);
    return run;
  }
  static void expect_a_picture_without_maps(const ProgramRun& run) {
    ASSERT_TRUE(run.ended);
    EXPECT_EQ(run.status, 0) << run.errors.toStdString();
    EXPECT_TRUE(run.errors.contains("the picture has no maps")) << run.errors.toStdString();
    EXPECT_TRUE(run.errors.contains("OpenGL 3.3")) << run.errors.toStdString();
    EXPECT_EQ(run.picture.size(), QSize(1200, 800));
  }
};

TEST_F(GraphicsTest, WorksWithoutOpenGLExceptForMaps) {
  expect_a_picture_without_maps(shoot({"QT_QPA_PLATFORM=offscreen"}));
}

TEST_F(GraphicsTest, WorksWithoutADisplaysGraphicsInterface) {
  expect_a_picture_without_maps(shoot({"QT_XCB_GL_INTEGRATION=none"}));
}

TEST_F(GraphicsTest, WorksWithAnOldOpenGL) {
  const ProgramRun run = shoot({"MESA_GL_VERSION_OVERRIDE=2.1", "MESA_GLSL_VERSION_OVERRIDE=120"});
  expect_a_picture_without_maps(run);
  EXPECT_TRUE(run.errors.contains("2.1")) << run.errors.toStdString();
}

TEST_F(GraphicsTest, DrawsMapsWithOpenGL) {
  const ProgramRun run = shoot({});
  ASSERT_TRUE(run.ended);
  EXPECT_EQ(run.status, 0);
  EXPECT_FALSE(run.errors.contains("no maps")) << run.errors.toStdString();
  EXPECT_EQ(run.picture.size(), QSize(1200, 800));
}

}  // namespace
}  // namespace attnscope
