// Every dialog of the window on a small screen: no text is cut, nothing is outside its parent or
// covered, and the dialog fits on the screen.
#include <QAbstractButton>
#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QTabWidget>
#include <filesystem>
#include <fstream>
#include <functional>

#include "app/panels/describe/role_editor.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/widgets/file_to_save.h"
#include "app/window/export_dialog.h"
#include "app/window/gallery_window.h"
#include "app/window/manual_window.h"
#include "app/window/notice_bar.h"
#include "app/window/page_composer.h"
#include "tests/app/support/layout_fixture.h"

namespace attnscope {
namespace {

constexpr QSize kScreen(1024, 740);  // without a window's title

class DialogLayout : public LayoutTest {
 protected:
  /// Gives the dialog at most the screen's size and looks at it.
  void look_at(QWidget& dialog, const QString& name) {
    dialog.resize(dialog.size().boundedTo(kScreen));
    rest();
    ASSERT_TRUE(dialog.isVisible()) << name.toStdString();
    if (dialog.width() > kScreen.width() || dialog.height() > kScreen.height()) {
      faults_.add(name, dialog, "is larger than the screen");
    }
    faults_.look_around(dialog, name);
  }
  void look_at_tabs(QWidget& dialog, const QString& name) {
    look_at(dialog, name);
    for (QTabWidget* tabs : dialog.findChildren<QTabWidget*>()) {
      for (int i = 0; i < tabs->count(); ++i) {
        tabs->setCurrentIndex(i);
        look_at(dialog, name + ", " + tabs->tabText(i));
      }
    }
  }
  /// Looks at the dialog with each entry of a list of its own chosen.
  void look_at_each(QWidget& dialog, QComboBox& list, const QString& name) {
    for (int i = 0; i < list.count(); ++i) {
      if (list.itemText(i).isEmpty() ||
          !list.model()->flags(list.model()->index(i, 0)).testFlag(Qt::ItemIsEnabled))
        continue;
      list.setCurrentIndex(i);
      look_at(dialog, name + ", " + list.itemText(i));
    }
  }
  /// Runs `open`, which shows a modal dialog, and calls `look` with it.
  void with_dialog(const std::function<void()>& open, const std::function<void(QDialog&)>& look) {
    bool seen = false;
    on_dialog([&](QDialog& dialog) {
      seen = true;
      look(dialog);
      dialog.reject();
    });
    open();
    EXPECT_TRUE(seen);
  }
  void look_at_command(const char* id) {
    with_dialog([&] { child<QAction>(id)->trigger(); },
                [&](QDialog& dialog) { look_at_tabs(dialog, id); });
  }
};

struct DialogLook {
  const char* name;
  Theme theme = Theme::dark;
  double text_scale = 1;
};

class DialogLayoutAt : public DialogLayout, public testing::WithParamInterface<DialogLook> {
 protected:
  void SetUp() override {
    window().resize(kScreen);
    Preferences preferences;
    preferences.theme = GetParam().theme;
    preferences.text_scale = GetParam().text_scale;
    window().set_preferences(preferences);
    rest();
    open_timm();
  }
};

TEST_P(DialogLayoutAt, DialogsOfTheMenusAreWhole) {
  for (const char* id : {"palette", "preferences", "keys", "cite", "about"}) {
    look_at_command(id);
  }
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

TEST_P(DialogLayoutAt, TheExportDialogIsWholeForEveryFigure) {
  ExportDialog dialog(session(), &window());
  dialog.show();
  look_at_each(dialog, *dialog.findChild<QComboBox*>("export_figure"), "export");
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

TEST_P(DialogLayoutAt, ThePageComposerIsWhole) {
  PageComposer dialog(session(), &window());
  dialog.show();
  look_at_tabs(dialog, "composer");
  dialog.findChild<QAbstractButton*>("composer_usual")->click();
  look_at_tabs(dialog, "composer, filled");
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

TEST_P(DialogLayoutAt, GalleryAndManualAreWhole) {
  child<QAction>("gallery")->trigger();
  auto* const gallery = window().findChild<GalleryWindow*>();
  ASSERT_NE(gallery, nullptr);
  look_at(*gallery, "gallery");
  gallery->close();
  child<QAction>("manual")->trigger();
  auto* const manual = window().findChild<ManualWindow*>();
  ASSERT_NE(manual, nullptr);
  look_at(*manual, "manual");
  manual->close();
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

TEST_P(DialogLayoutAt, DialogsOfAModelAreWhole) {
  const OpenSubject& open = session().subjects()[0];
  {
    OverlayDialog dialog(open.subject, &window());
    dialog.show();
    look_at(dialog, "overlay");
    look_at_each(dialog, *dialog.findChild<QComboBox*>("mechanism"), "overlay");
  }
  {
    ModelDialog dialog(open, &window());
    dialog.show();
    look_at(dialog, "options");
  }
  with_dialog([&] { ask_for_name(&window(), session(), id(0)); },
              [&](QDialog& dialog) { look_at(dialog, "name"); });
  {
    RoleEditor editor(session(), open.file, open.options, id(0), &window());
    editor.show();
    look_at(editor, "roles");
  }
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

TEST_P(DialogLayoutAt, QuestionsAndNotesAreWhole) {
  const std::filesystem::path file = folder() / "attention-maps-vit_base_patch16_224.pdf";
  std::ofstream(file) << "a figure";
  const QString path = QString::fromStdString(file.string());
  with_dialog([&] { EXPECT_FALSE(may_replace(&window(), path)); },
              [&](QDialog& dialog) { look_at(dialog, "replace"); });
  auto* const notice = window().findChild<NoticeBar*>();
  window().show_exported(
      "/home/a/cumulative-spectrum-vit_small_patch16_224.augreg_in21k_ft_in1k.pdf");
  rest();
  look_around("note");
  notice->show_error(path + ": is not a file that torch.save wrote");
  rest();
  look_around("error");
  child<QAction>("first_minute")->trigger();
  for (int i = 0; i < 7; ++i) {
    rest();
    look_around(QString("first minute, %1").arg(i));
    auto* const next = child<QAbstractButton>("first_minute_next");
    if (next->isVisible()) next->click();
  }
  EXPECT_TRUE(faults_.empty()) << faults_.report();
}

INSTANTIATE_TEST_SUITE_P(Looks, DialogLayoutAt,
                         testing::Values(DialogLook{"dark"}, DialogLook{"light", Theme::light}),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace attnscope
