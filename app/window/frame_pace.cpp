#include "app/window/frame_pace.h"

#include <QApplication>
#include <QEvent>
#include <QWidget>
#include <algorithm>

#include "app/session/job_queue.h"

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

}  // namespace

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

bool FramePace::eventFilter(QObject* watched, QEvent* event) {
  const QEvent::Type type = event->type();
  if (is_of_user(type)) {
    user_acted_ = true;
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
  cost_ = Clock::now() - begun;
  drawing_ = false;
}

}  // namespace attnscope
