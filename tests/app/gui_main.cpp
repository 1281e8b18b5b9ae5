// Runs the tests that need a window, under an X server (xvfb-run if there is no screen).
#include <QApplication>
#include <gtest/gtest.h>

#include "app/render/application.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const attnscope::Application application(argc, argv);
  QApplication::setEffectEnabled(Qt::UI_AnimateMenu, false);
  return RUN_ALL_TESTS();
}
