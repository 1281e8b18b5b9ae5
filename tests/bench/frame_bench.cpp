// One frame of the window's centre: two atlases of 36 maps with N = 197, as for two DeiT-Tiny, 460
// × 860 pixels each, compared to the 16.7 ms of 60 frames per second. Needs an X server with OpenGL
// (xvfb-run has one in software).
#include <QApplication>
#include <QHBoxLayout>
#include <QTest>
#include <benchmark/benchmark.h>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/canvas/atlas_canvas.h"
#include "app/canvas/atlas_link.h"
#include "app/look/theme.h"
#include "app/render/application.h"
#include "app/session/comparison_store.h"
#include "app/session/session.h"
#include "tests/app/canvas/synthetic_trace.h"

namespace attnscope {
namespace {

constexpr double frame_seconds = 1.0 / 60;

class TimedCanvas : public AtlasCanvas {
 public:
  using AtlasCanvas::AtlasCanvas;
  void frame() { (void)grab_picture(); }
};

struct Centre {
  Session session;
  ComparisonStore comparisons{session};
  AtlasLink link{session, comparisons};
  QWidget window;
  std::vector<TimedCanvas*> canvases;

  Centre() {
    auto* row = new QHBoxLayout(&window);
    row->setContentsMargins(0, 0, 0, 0);
    for (const char* name : {"one", "two"}) {
      const SubjectId subject = session.add_trace(banded_trace(12, 3, 197), name);
      canvases.push_back(new TimedCanvas(session, link, subject));
      row->addWidget(canvases.back(), 1);
    }
    window.resize(920, 860);
    window.show();
    if (!QTest::qWaitForWindowExposed(&window)) return;
    QTest::qWait(300);
  }
};

void measure(benchmark::State& state, const std::function<void(Centre&, int)>& change) {
  Centre centre;
  if (!centre.canvases[0]->has_context()) {
    state.SkipWithError("no OpenGL here");
    return;
  }
  int step = 0;
  for (auto _ : state) {
    change(centre, step++);
    for (TimedCanvas* canvas : centre.canvases) canvas->frame();
  }
  // Values above 1 are faster than the screen.
  state.counters["frames_in_16.7ms"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * frame_seconds, benchmark::Counter::kIsRate);
}

void still(benchmark::State& state) {
  measure(state, [](Centre&, int) {});
}

void zooming(benchmark::State& state) {
  measure(state, [](Centre& centre, int step) {
    centre.link.set_zoom(
        {65 * (1 + 0.5 * std::sin(step / 10.0)), {1.6, 6.0 + 0.3 * std::cos(step / 7.0)}});
  });
}

void cursor_moving(benchmark::State& state) {
  measure(state, [](Centre& centre, int step) {
    Selection selection = centre.session.selection();
    selection.hover = {centre.canvases[0]->subject(), 5, 1, step % 197, step * 7 % 197};
    centre.session.select(selection);
  });
}

void numbers_in_cells(benchmark::State& state) {
  measure(state, [](Centre& centre, int step) {
    centre.link.set_zoom({45.0 * 197, {0.5, 0.5 + 0.001 * (step % 10)}});
  });
}

void scale_changing(benchmark::State& state) {
  measure(state, [](Centre& centre, int step) {
    ViewSettings view;
    view.norm = step % 2 == 0 ? ScaleNorm::linear : ScaleNorm::logarithmic;
    centre.session.set_view(view);
  });
}

void temperature_dragged(benchmark::State& state) {
  measure(state, [](Centre& centre, int step) {
    ViewSettings view;
    view.temperature = 1.5 + std::sin(step / 10.0);
    centre.session.set_view(view);
  });
}

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  attnscope::Application application(argc, argv);
  attnscope::apply_theme(application, {});
  using Measured = std::pair<const char*, void (*)(benchmark::State&)>;
  for (const auto& [name, run] :
       {Measured("still", attnscope::still), Measured("zooming", attnscope::zooming),
        Measured("cursor_moving", attnscope::cursor_moving),
        Measured("numbers_in_cells", attnscope::numbers_in_cells),
        Measured("scale_changing", attnscope::scale_changing),
        Measured("temperature_dragged", attnscope::temperature_dragged)}) {
    benchmark::RegisterBenchmark(name, run)
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime()
        ->UseRealTime();
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
