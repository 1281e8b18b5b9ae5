// From a weight file to the first spectrum on the screen: DeiT-Tiny's shapes (22 MB of safetensors)
// opened in the window by a user, beside the same work without a window, turn by turn; and the
// start of the program: its window on the screen within 0.25 s, the first spectrum of the sample
// models within 0.4 s. Needs an X server with OpenGL (xvfb-run has one in software).
#include <QApplication>
#include <QTemporaryDir>
#include <QTest>
#include <benchmark/benchmark.h>
#include <chrono>
#include <filesystem>

#include "analysis/spectrum/spectrum.h"
#include "app/look/theme.h"
#include "app/panels/spectrum/spectrum_panel.h"
#include "app/render/application.h"
#include "app/session/session.h"
#include "app/window/main_window.h"
#include "core/model/model.h"
#include "tests/bench/turns.h"
#include "tests/support/model_shapes.h"

namespace attnscope {
namespace {

constexpr double give_up_after_ms = 60'000;

const char* const input_locator = ATTNSCOPE_SOURCE_DIR "/sample_data/inputs/09_ankle_boot.png";

/// All that the plot needs: load, run, and the spectra of all 36 maps without and with I.
void work_alone(const std::filesystem::path& file) {
  const auto model = load_model(file);
  const Trace trace =
      model->run(open_input(input_locator), model->spec().mechanism, TraceRequest{}, Progress{});
  benchmark::DoNotOptimize(spectra_of(trace, IdentityView::without));
  benchmark::DoNotOptimize(spectra_of(trace, IdentityView::with));
}

/// False if no spectrum appeared.
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

/// The sample models' comparison in a new window, as the program starts with it.
void start_to_first_spectrum(benchmark::State& state) {
  Times window_shown, spectrum_shown;
  for (auto _ : state) {
    const auto begun = std::chrono::steady_clock::now();
    const auto since = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    Session session;
    MainWindow window(session, Theme::dark);
    window.resize(1600, 1000);
    window.open_samples();
    window.show();
    const bool exposed = QTest::qWaitForWindowExposed(&window);
    window_shown.add(since());
    const auto* panel = window.findChild<SpectrumPanel*>();
    const bool drawn = exposed && QTest::qWaitFor([&] { return panel->figure() != nullptr; },
                                                  static_cast<int>(give_up_after_ms));
    window.repaint();
    spectrum_shown.add(since());
    if (!drawn) {
      state.SkipWithError("no spectrum appeared");
      return;
    }
  }
  state.counters["window_ms"] = 1e3 * window_shown.least();
  state.counters["first_spectrum_ms"] = 1e3 * spectrum_shown.least();
}

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  attnscope::Application application(argc, argv);
  attnscope::apply_theme(application, {});
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
      ->Iterations(5)
      ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
