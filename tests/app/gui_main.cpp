// The tests that need a window: run them under an X server (xvfb-run where there is no screen).
#include <QApplication>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  QApplication::setEffectEnabled(Qt::UI_AnimateMenu, false);
  return RUN_ALL_TESTS();
}
