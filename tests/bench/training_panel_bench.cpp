// Cost of the training panel for the training, and the age of the data shown: the presets' three
// small transformers train with the window active (its atlases, spectra, curves) and without, twice
// and in reverse order the second time because they get faster over time; then with the window and
// a watch that looks a thousand times a second; in alternating turns. Needs an X server with OpenGL
// (xvfb-run has one in software) and Fashion-MNIST (Debian's dataset-fashion-mnist).
#include <QApplication>
#include <QEventLoop>
#include <QPushButton>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <unistd.h>
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

constexpr std::chrono::milliseconds kTurn(2500);
constexpr int kRounds = 3;
constexpr int kFrameMs = 16;  // 60 frames per second
const char* const kInput = ATTNSCOPE_SOURCE_DIR "/sample_data/inputs/09_ankle_boot.png";

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

std::int64_t steps_of_all(const TrainingSession& training) {
  std::int64_t steps = 0;
  for (const TrainingSession::Run& run : training.runs()) steps += run.training->moment().step;
  return steps;
}

/// Processor time of the threads that display: the main thread, and those that draw or compute the
/// data shown. Threads that train are named like the program.
double seconds_of_looking() {
  double seconds = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    const bool looks = task.path().filename() == std::to_string(getpid()) ||
                       name.starts_with("llvmpipe") || name.starts_with("Thread (pooled");
    double nanoseconds = 0;
    if (looks && std::ifstream(task.path() / "schedstat") >> nanoseconds) {
      seconds += nanoseconds / 1e9;
    }
  }
  return seconds;
}

/// Time at which each run reached each step, sampled hundreds of times a second.
class Course {
 public:
  explicit Course(const TrainingSession& training) : training_(training) {}

  void look() {
    const Clock::time_point now = Clock::now();
    for (const TrainingSession::Run& run : training_.runs()) {
      reached_[run.name].try_emplace(run.training->moment().step, now);
    }
  }
  /// Seconds since weights newer than those shown exist; the maximum over the runs.
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

/// Window with the training panel in front, which starts the networks of its presets.
struct Learning {
  Session session;
  MainWindow window{session, Theme::dark};
  TrainingPanel* panel = nullptr;

  Learning() {
    session.set_input(kInput);
    window.resize(1600, 1000);
    window.show();
    window.show_panel("training");
    panel = window.findChild<TrainingPanel*>();
    QTest::mouseClick(window.findChild<QPushButton*>("training_start"), Qt::LeftButton);
  }
  [[nodiscard]] const TrainingSession& training() const { return panel->training(); }
};

/// Measures seconds from the start button to the first test in which each network has an accuracy
/// of 75 %; the goal is a minute.
void to_three_quarters(benchmark::State& state) {
  for (auto _ : state) {
    Learning learning;
    const Clock::time_point begun = Clock::now();
    std::map<std::string, double> seconds;
    (void)QTest::qWaitFor(
        [&] {
          for (const TrainingSession::Run& run : learning.training().runs()) {
            if (run.training->log()->last("tests/accuracy").value_or(0) < 0.75) continue;
            seconds.try_emplace(run.name, seconds_since(begun));
          }
          return !seconds.empty() && seconds.size() == learning.training().runs().size();
        },
        180'000);
    for (const auto& [name, time] : seconds) state.counters[name] = time;
  }
}

void beside_the_panel(benchmark::State& state) {
  Learning learning;
  const TrainingSession& training = learning.training();
  MainWindow& window = learning.window;
  const bool learns = QTest::qWaitFor(
      [&] { return steps_of_all(training) > 60 && learning.panel->figure() != nullptr; }, 60'000);
  if (!learns) {
    state.SkipWithError("nothing learns: is dataset-fashion-mnist installed?");
    return;
  }
  std::vector<double> ages, gaps, cores;
  std::int64_t shown_steps = 0, alone_steps = 0;
  const auto steps_of_a_turn = [&](const auto& turn) {
    const std::int64_t before = steps_of_all(training);
    turn();
    return steps_of_all(training) - before;
  };
  const auto shown = [&] {
    const double looked = seconds_of_looking();
    shown_steps += steps_of_a_turn([] {
      QEventLoop turn;
      QTimer::singleShot(kTurn, &turn, &QEventLoop::quit);
      turn.exec();
    });
    cores.push_back((seconds_of_looking() - looked) / std::chrono::duration<double>(kTurn).count());
  };
  const auto alone = [&] {
    alone_steps += steps_of_a_turn([] { std::this_thread::sleep_for(kTurn); });
  };
  for (auto _ : state) {
    shown();
    alone();
    alone();
    shown();
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
    state.SkipWithError("all had been learned before the end");
    return;
  }
  const auto at = [](std::vector<double>& values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  state.counters["steps_of_alone"] =
      static_cast<double>(shown_steps) / static_cast<double>(alone_steps);
  state.counters["cores_that_look"] = at(cores, 0.5);
  state.counters["age_s_median"] = at(ages, 0.5);
  state.counters["age_s_95_percent"] = at(ages, 0.95);
  state.counters["frame_ms_median"] = 1e3 * at(gaps, 0.5);
  state.counters["frame_ms_95_percent"] = 1e3 * at(gaps, 0.95);
}

BENCHMARK(to_three_quarters)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK(beside_the_panel)->Iterations(kRounds)->UseRealTime();

}  // namespace
}  // namespace attnscope

int main(int argc, char** argv) {
  attnscope::Application application(argc, argv);
  attnscope::apply_theme(application, {});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
