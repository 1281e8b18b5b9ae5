// What the training panel costs those who learn, and how old what it shows is: the presets' three
// small transformers, first with the window going on (its atlases, spectra, curves), then with
// nobody looking, then with the window and a watch that looks at it a thousand times a second, turn
// by turn. Needs an X server with OpenGL (xvfb-run has one in software) and Fashion-MNIST (Debian's
// dataset-fashion-mnist).
#include <QApplication>
#include <QEventLoop>
#include <QPushButton>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "app/look/theme.h"
#include "app/panels/training/training_panel.h"
#include "app/render/application.h"
#include "app/session/session.h"
#include "app/session/training_session.h"
#include "app/window/main_window.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTurn(5);
constexpr int kFrameMs = 16;  // 60 of them a second
const char* const kInput = ATTNSCOPE_SOURCE_DIR "/sample_data/inputs/09_ankle_boot.png";

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

std::int64_t steps_of_all(const TrainingSession& training) {
  std::int64_t steps = 0;
  for (const TrainingSession::Run& run : training.runs()) steps += run.training->moment().step;
  return steps;
}

/// When each run came to each step, looked at hundreds of times a second.
class Course {
 public:
  explicit Course(const TrainingSession& training) : training_(training) {}

  void look() {
    const Clock::time_point now = Clock::now();
    for (const TrainingSession::Run& run : training_.runs()) {
      reached_[run.name].try_emplace(run.training->moment().step, now);
    }
  }
  /// Seconds since the weights that are shown were the newest, of the run where that is longest.
  [[nodiscard]] double age_of_shown() const {
    double oldest = 0;
    for (const TrainingSession::Run& run : training_.runs()) {
      const auto reached = reached_.find(run.name);
      if (!run.shown || reached == reached_.end()) continue;
      const auto next = reached->second.upper_bound(run.shown->step);
      if (next != reached->second.end()) oldest = std::max(oldest, seconds_since(next->second));
    }
    return oldest;
  }

 private:
  const TrainingSession& training_;
  std::map<std::string, std::map<std::int64_t, Clock::time_point>> reached_;
};

void beside_the_panel(benchmark::State& state) {
  Session session;
  session.set_input(kInput);
  MainWindow window(session, Theme::dark);
  window.resize(1600, 1000);
  window.show();
  window.show_panel("training");
  auto* const panel = window.findChild<TrainingPanel*>();
  QTest::mouseClick(window.findChild<QPushButton*>("training_start"), Qt::LeftButton);
  const TrainingSession& training = panel->training();
  const bool learns = QTest::qWaitFor(
      [&] { return steps_of_all(training) > 30 && panel->figure() != nullptr; }, 60'000);
  if (!learns) {
    state.SkipWithError("nothing learns: is dataset-fashion-mnist installed?");
    return;
  }
  std::vector<double> ages, gaps;
  std::int64_t shown_steps = 0, alone_steps = 0;
  const auto steps_of_a_turn = [&](const auto& turn) {
    const std::int64_t before = steps_of_all(training);
    turn();
    return steps_of_all(training) - before;
  };
  for (auto _ : state) {
    shown_steps += steps_of_a_turn([] {
      QEventLoop turn;
      QTimer::singleShot(kTurn, &turn, &QEventLoop::quit);
      turn.exec();
    });
    alone_steps += steps_of_a_turn([] { std::this_thread::sleep_for(kTurn); });
    Course course(training);
    const Clock::time_point begun = Clock::now();
    Clock::time_point frame = begun;
    QTimer frames;
    QObject::connect(&frames, &QTimer::timeout, &window, [&] {
      gaps.push_back(seconds_since(frame));
      frame = Clock::now();
      ages.push_back(course.age_of_shown());
    });
    frames.start(kFrameMs);
    while (Clock::now() - begun < kTurn) {
      QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
      course.look();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  if (!training.is_running()) {
    state.SkipWithError("all had been learnt before the end");
    return;
  }
  std::ranges::sort(ages);
  std::ranges::sort(gaps);
  const auto at = [](const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  state.counters["steps_of_alone"] =
      static_cast<double>(shown_steps) / static_cast<double>(alone_steps);
  state.counters["age_s_median"] = at(ages, 0.5);
  state.counters["age_s_95_percent"] = at(ages, 0.95);
  state.counters["frame_ms_median"] = 1e3 * at(gaps, 0.5);
  state.counters["frame_ms_95_percent"] = 1e3 * at(gaps, 0.95);
}

BENCHMARK(beside_the_panel)->Iterations(3)->UseRealTime();

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  attnscope::Application application(argc, argv);
  attnscope::apply_theme(application, {});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
