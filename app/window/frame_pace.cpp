#include "app/window/frame_pace.h"

#include <QApplication>
#include <QEvent>
#include <QWidget>
#include <algorithm>

#include "app/session/job_queue.h"
#include "core/text/number_text.h"

namespace attnscope {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::duration<double, std::milli> kLongest = 100ms;
constexpr std::chrono::milliseconds kBurst = 200ms;

bool is_of_user(QEvent::Type type) {
  switch (type) {
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonRelease:
    case QEvent::MouseMove:
    case QEvent::Wheel:
    case QEvent::KeyPress:
    case QEvent::ShortcutOverride:
    case QEvent::DragMove:
      return true;
    default:
      return false;
  }
}

double milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

std::string frame_times_as_csv(const std::vector<FrameTime>& frames) {
  std::string csv = "end_s,drawing_ms,after_action_ms\n";
  for (const FrameTime& frame : frames) {
    csv += fixed_text(frame.end_s, 6) + ',' + fixed_text(frame.drawing_ms, 3) + ',';
    if (frame.after_action_ms) csv += fixed_text(*frame.after_action_ms, 3);
    csv += '\n';
  }
  return csv;
}

FramePace::FramePace(QWidget& window, const JobQueue& jobs)
    : QObject(&window), window_(window), jobs_(jobs), cost_(kLongest) {
  latest_.setSingleShot(true);
  connect(&latest_, &QTimer::timeout, this, &FramePace::draw);
  collecting_.setSingleShot(true);
  connect(&jobs, &JobQueue::became_idle, this, [this] {
    if (!collecting_.isActive()) ask_anew();
  });
  qApp->installEventFilter(this);
}

void FramePace::collect() { collecting_.start(kBurst); }

void FramePace::customEvent(QEvent*) { acted_.reset(); }

bool FramePace::eventFilter(QObject* watched, QEvent* event) {
  const QEvent::Type type = event->type();
  if (is_of_user(type)) {
    user_acted_ = true;
    if (recording_ && !acted_) {
      acted_ = Clock::now();
      // This event follows a redraw that the action asks for at once.
      QCoreApplication::postEvent(this, new QEvent(QEvent::User), Qt::LowEventPriority - 1);
    }
    ask_anew();
  }
  // When a part of the window is exposed, the whole window is drawn.
  if (type == QEvent::Paint && watched == &window_ && !drawing_) latest_.stop();
  if (type != QEvent::UpdateRequest || watched != &window_ || drawing_) return false;
  const bool collecting = collecting_.isActive();
  if (user_acted_ || (jobs_.idle() && !collecting)) {
    draw();
  } else if (!latest_.isActive()) {
    const auto held = std::min(2 * cost_, kLongest);
    latest_.start(collecting ? collecting_.remainingTimeAsDuration()
                             : std::chrono::duration_cast<std::chrono::milliseconds>(held));
  }
  return true;
}

void FramePace::ask_anew() {
  if (!latest_.isActive()) return;
  latest_.stop();
  // The event follows all pending ones, so the effect of the user's action is included.
  QCoreApplication::postEvent(&window_, new QEvent(QEvent::UpdateRequest), Qt::LowEventPriority);
}

void FramePace::draw() {
  latest_.stop();
  user_acted_ = false;
  drawing_ = true;
  const Clock::time_point begun = Clock::now();
  QEvent request(QEvent::UpdateRequest);
  QCoreApplication::sendEvent(&window_, &request);
  const Clock::time_point end = Clock::now();
  cost_ = end - begun;
  drawing_ = false;
  if (!recording_) return;
  FrameTime& frame = frames_.emplace_back();
  frame.end_s = milliseconds(end.time_since_epoch()) / 1000;
  frame.drawing_ms = cost_.count();
  if (acted_) frame.after_action_ms = milliseconds(end - *acted_);
  acted_.reset();
}

}  // namespace attnscope
