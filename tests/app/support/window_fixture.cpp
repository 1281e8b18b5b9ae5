#include "tests/app/support/window_fixture.h"

#include <QDialog>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QLineEdit>
#include <QSettings>
#include <QTimer>
#include <cmath>
#include <random>
#include <utility>

#include "core/trace/trace_file.h"

namespace attnscope {

Trace sample_trace(std::int64_t layers, std::int64_t heads, std::int64_t side, double sharpness,
                   unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const std::int64_t tokens = 1 + side * side;
  Trace trace;
  trace.model_name = "sample";
  trace.input_label = "sample input";
  trace.layout = {1, side, side};
  Image image{side * 4, side * 4, 1, {}};
  for (std::int64_t i = 0; i < image.width * image.height; ++i) {
    image.pixels.push_back(static_cast<std::uint8_t>(i % 251));
  }
  trace.image = image;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    Tensor maps({heads, tokens, tokens});
    for (std::int64_t row = 0; row < heads * tokens; ++row) {
      float* values = maps.data() + row * tokens;
      double sum = 0;
      for (std::int64_t key = 0; key < tokens; ++key) {
        const double value = std::exp(sharpness * normal(random));
        values[key] = static_cast<float>(value);
        sum += value;
      }
      for (std::int64_t key = 0; key < tokens; ++key) {
        values[key] = static_cast<float>(values[key] / sum);
      }
    }
    LayerTrace recorded;
    recorded.implied_map = std::move(maps);
    trace.layers.push_back(std::move(recorded));
  }
  return trace;
}

SubjectId subject_at(const Session& session, std::size_t place) {
  return place < session.subjects().size() ? session.subjects()[place].id : SubjectId::none;
}

bool wait_until(const std::function<bool()>& condition, double seconds) {
  QElapsedTimer clock;
  clock.start();
  while (!condition()) {
    if (static_cast<double>(clock.elapsed()) > seconds * 1000) return false;
    QTest::qWait(10);
  }
  return true;
}

WindowTest::WindowTest() {
  QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
  QCoreApplication::setOrganizationName("Attnscope tests");
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
  session_ = std::make_unique<Session>();
  window_ = std::make_unique<MainWindow>(*session_, Theme::dark);
  window_->resize(1400, 900);
  window_->show();
  (void)QTest::qWaitForWindowExposed(window_.get());
  // Without a window manager nobody else gives it the keys.
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

void WindowTest::press(Qt::Key key, Qt::KeyboardModifiers modifiers) {
  QTest::keyClick(window_.get(), key, modifiers);
}

void WindowTest::on_dialog(std::function<void(QDialog&)> act) {
  auto* timer = new QTimer(window_.get());
  QObject::connect(timer, &QTimer::timeout, window_.get(), [timer, act = std::move(act)] {
    auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
    if (!dialog) return;
    timer->stop();
    timer->deleteLater();
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
