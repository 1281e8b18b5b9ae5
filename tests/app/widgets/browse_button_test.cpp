#include "app/widgets/browse_button.h"

#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(BrowseButton, ChoosesFoldersOfClassesToo) {
  QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
  const QTemporaryDir folder;
  ASSERT_TRUE(QDir(folder.path()).mkpath("set/cat"));
  QLineEdit field;
  field.setText(folder.path() + "/set");
  BrowseButton button("a data set", {}, &field);
  QSignalSpy chosen(&button, &BrowseButton::chosen);
  QAction* action = button.menu()->findChild<QAction*>("choose_folder");
  ASSERT_NE(action, nullptr);
  QTimer::singleShot(100, [&] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    auto* line = dialog->findChild<QLineEdit*>("fileNameEdit");
    line->setText(folder.path() + "/set");
    QTest::keyClick(line, Qt::Key_Return);
  });
  field.clear();
  action->trigger();
  EXPECT_EQ(field.text(), folder.path() + "/set");
  EXPECT_EQ(chosen.count(), 1);
}

}  // namespace
}  // namespace attnscope
