// Time from a weight file to the first spectrum on the screen: DeiT-Tiny's shapes (22 MB of
// safetensors) opened in the window, compared to the same work without a window, in alternating
// turns; and the start of the program with linking: its window on the screen within 0.25 s, the
// first spectrum of the sample models within 0.4 s. Needs an X server with OpenGL (xvfb-run has one
// in software).
#include <QApplication>
#include <QDeadlineTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QWindow>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string_view>

#include "analysis/spectrum/spectrum.h"
#include "app/canvas/graphics.h"
#include "app/look/theme.h"
#include "app/panels/spectrum/spectrum_panel.h"
#include "app/render/application.h"
#include "app/session/job_queue.h"
#include "app/session/sample_data.h"
#include "app/session/session.h"
#include "app/window/main_window.h"
#include "core/model/model.h"
#include "tests/bench/turns.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

constexpr double give_up_after_ms = 60'000;

const char* const input_locator = ATTNSCOPE_SOURCE_DIR "/sample_data/inputs/09_ankle_boot.png";

/// Does the work for the plot without a window: loads, runs, and computes the spectra of all 36
/// maps without and with I.
void work_alone(const std::filesystem::path& file) {
  const auto model = load_model(file);
  const Trace trace =
      model->run(open_input(input_locator), model->spec().mechanism, TraceRequest{}, Progress{});
  benchmark::DoNotOptimize(spectra_of(trace, IdentityView::without));
  benchmark::DoNotOptimize(spectra_of(trace, IdentityView::with));
}

/// Opens the file in the window. Returns false if no spectrum appeared.
bool open_in_window(MainWindow& window, const std::filesystem::path& file) {
  window.open_file(file);
  const auto* panel = window.findChild<SpectrumPanel*>();
  return QTest::qWaitFor(
      [&] { return panel->figure() != nullptr && !panel->is_behind() && window.settled(); },
      static_cast<int>(give_up_after_ms));
}

void deit_tiny_to_first_spectrum(benchmark::State& state, const std::filesystem::path& file) {
  Times alone, on_screen;
  for (auto _ : state) {
    alone.add(seconds_of([&] { work_alone(file); }));
    Session session;
    session.set_input(input_locator);
    MainWindow window(session, Theme::dark);
    window.resize(1600, 1000);
    window.show();
    if (!QTest::qWaitForWindowExposed(&window)) {
      state.SkipWithError("the window did not open");
      return;
    }
    bool shown = false;
    on_screen.add(seconds_of([&] { shown = open_in_window(window, file); }));
    if (!shown) {
      state.SkipWithError("no spectrum appeared");
      return;
    }
  }
  state.counters["alone_ms"] = 1e3 * alone.median();
  state.counters["on_screen_ms"] = 1e3 * on_screen.median();
  state.counters["times_alone"] = on_screen.median() / alone.median();
}

const char* const start_argument = "--start";

/// Records if a plot with a figure was painted.
class PaintWatch : public QObject {
 public:
  explicit PaintWatch(const SpectrumPanel& panel) : panel_(panel) {}
  [[nodiscard]] bool painted() const { return painted_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    painted_ = painted_ || (event->type() == QEvent::Paint && panel_.figure() != nullptr);
    return QObject::eventFilter(watched, event);
  }

 private:
  const SpectrumPanel& panel_;
  bool painted_ = false;
};

/// Processes events until the condition holds; false if it takes too long.
bool wait_until(const std::function<bool()>& condition) {
  const QDeadlineTimer deadline(static_cast<qint64>(give_up_after_ms));
  while (!condition() && !deadline.hasExpired()) {
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  return condition();
}

/// Shows the comparison of the sample models in a new window, as the program does at its start;
/// prints one line each when the window and the spectrum are on the screen.
int start() {
  load_graphics();
  Session session;
  open_first_minute(session);
  MainWindow window(session, Theme::dark);
  window.resize(1600, 1000);
  window.show();
  if (!wait_until([&] { return window.windowHandle()->isExposed(); })) return 1;
  std::puts("window");
  std::fflush(stdout);
  PaintWatch watch(*window.findChild<SpectrumPanel*>());
  window.findChild<QWidget*>("spectrum_plot")->installEventFilter(&watch);
  if (!wait_until([&] { return watch.painted(); })) return 1;
  std::puts("spectrum");
  std::fflush(stdout);
  return 0;
}

/// Starts this program repeatedly as a new process.
void start_to_first_spectrum(benchmark::State& state) {
  Times window_shown, spectrum_shown;
  for (auto _ : state) {
    const auto begun = std::chrono::steady_clock::now();
    const auto since = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    QProcess program;
    program.start(QCoreApplication::applicationFilePath(), {start_argument});
    for (Times* const shown : {&window_shown, &spectrum_shown}) {
      if (!program.waitForReadyRead(static_cast<int>(give_up_after_ms))) {
        state.SkipWithError("no spectrum appeared");
        return;
      }
      program.readAll();
      shown->add(since());
    }
    program.waitForFinished();
  }
  state.counters["window_ms"] = 1e3 * window_shown.median();
  state.counters["first_spectrum_ms"] = 1e3 * spectrum_shown.median();
}

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  attnscope::Application application(argc, argv);
  attnscope::apply_theme(application, {});
  if (argc > 1 && std::string_view(argv[1]) == attnscope::start_argument) {
    return attnscope::start();
  }
  const QTemporaryDir folder;
  const auto file = std::filesystem::path(folder.path().toStdString()) / "deit_tiny.safetensors";
  attnscope::write_hashed_safetensors(file, attnscope::timm_shapes({.width = 192,
                                                                    .layers = 12,
                                                                    .image = 224,
                                                                    .patch = 16,
                                                                    .classes = 1000,
                                                                    .mlp_width = 768}));
  benchmark::RegisterBenchmark(
      "deit_tiny_to_first_spectrum",
      [&file](benchmark::State& state) { attnscope::deit_tiny_to_first_spectrum(state, file); })
      ->Unit(benchmark::kMillisecond)
      ->Iterations(5)
      ->UseRealTime();
  benchmark::RegisterBenchmark("start_to_first_spectrum", attnscope::start_to_first_spectrum)
      ->Unit(benchmark::kMillisecond)
      ->Iterations(15)
      ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
