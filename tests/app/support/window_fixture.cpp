#include "tests/app/support/window_fixture.h"

#include <QDialog>
#include <QFileDialog>
#include <QLineEdit>
#include <QSettings>
#include <QTimer>
#include <utility>

#include "core/trace/trace_file.h"

namespace attnscope {

WindowTest::WindowTest() {
  QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
  QCoreApplication::setOrganizationName("Attnscope tests");
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
  session_ = std::make_unique<Session>();
  window_ = std::make_unique<MainWindow>(*session_, Theme::dark);
  window_->resize(1400, 900);
  window_->show();
  (void)QTest::qWaitForWindowExposed(window_.get());
  // Without a window manager the window does not become active by itself.
  QApplication::setActiveWindow(window_.get());
}

WindowTest::~WindowTest() = default;

std::filesystem::path WindowTest::write_sample(const std::string& name, const Trace& trace) {
  const std::filesystem::path file = folder() / name;
  write_trace(file, trace);
  return file;
}

bool WindowTest::wait_until_settled() {
  return wait_until([this] { return window_->settled(); });
}

bool WindowTest::wait_until_still() {
  constexpr int kStillPolls = 15;
  QList<QRect> before;
  int still = 0;
  return wait_until([&] {
    QList<QRect> places;
    for (const QWidget* widget : window_->findChildren<QWidget*>()) {
      if (widget->isVisible()) places << QRect(widget->mapToGlobal(QPoint()), widget->size());
    }
    still = window_->settled() && places == before ? still + 1 : 0;
    before = places;
    return still >= kStillPolls;
  });
}

void WindowTest::press(Qt::Key key, Qt::KeyboardModifiers modifiers) {
  // The window is activated again after dialogs, because shortcuts need it and no window manager
  // does it.
  if (!QApplication::activeModalWidget()) QApplication::setActiveWindow(window_.get());
  QTest::keyClick(window_.get(), key, modifiers);
}

void WindowTest::on_dialog(std::function<void(QDialog&)> act) {
  auto* timer = new QTimer(window_.get());
  QObject::connect(timer, &QTimer::timeout, window_.get(), [timer, act = std::move(act)] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    if (!dialog) return;
    timer->stop();
    timer->deleteLater();
    constexpr int kLongestMs = 20000;
    QTimer::singleShot(kLongestMs, dialog, &QDialog::reject);  // a failure, but no endless test
    act(*dialog);
  });
  timer->start(20);
}

void WindowTest::answer_file_dialog(const std::filesystem::path& file) {
  on_dialog([file](QDialog& dialog) {
    auto* line = dialog.findChild<QLineEdit*>("fileNameEdit");
    ASSERT_NE(line, nullptr);
    line->setText(QString::fromStdString(file.string()));
    QTest::keyClick(line, Qt::Key_Return);
  });
}

}  // namespace attnscope
