#include "app/window/cite_dialog.h"

#include <QAction>
#include <QClipboard>
#include <QDialog>
#include <QFile>
#include <QPlainTextEdit>
#include <QPushButton>

#include "tests/app/support/window_fixture.h"
#include "tests/support/paths.h"

namespace attnscope {
namespace {

TEST(Citation, ConvertsTheCitationFileToBibtex) {
  const QString cff =
      "title: \"A: b\"\nauthors:\n  - name: The many\nversion: 1.2.3\n"
      "date-released: \"2031-02-03\"\nlicense: MIT\n";
  EXPECT_EQ(bibtex_of(cff).toStdString(),
            "@software{attnscope,\n"
            "  author  = {{The many}},\n"
            "  title   = {A: b},\n"
            "  version = {1.2.3},\n"
            "  year    = {2031},\n"
            "  license = {MIT}\n"
            "}");
}

class Cite : public WindowTest {};

TEST_F(Cite, HelpShowsItAndCopiesIt) {
  QString shown, copied;
  on_dialog([&](QDialog& dialog) {
    shown = dialog.findChild<QPlainTextEdit*>("citation")->toPlainText();
    dialog.findChild<QPushButton*>("copy_citation")->click();
    copied = QGuiApplication::clipboard()->text();
    dialog.reject();
  });
  child<QAction>("cite")->trigger();
  EXPECT_EQ(shown, copied);
  QFile file(QString::fromStdString(source_folder() + "/CITATION.cff"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(shown, bibtex_of(QString::fromUtf8(file.readAll())));
  EXPECT_TRUE(shown.contains("The Attnscope developers")) << shown.toStdString();
  EXPECT_FALSE(shown.contains("{}")) << "something is missing in CITATION.cff";
}

}  // namespace
}  // namespace attnscope
