#include "app/widgets/progress_line.h"

#include <QObject>
#include <cmath>

namespace attnscope {

namespace {

constexpr int kSteps = 1000;

}  // namespace

ProgressLine::ProgressLine(const QString& accessible_name, QWidget* parent) : QProgressBar(parent) {
  setRange(0, kSteps);
  setTextVisible(false);
  setAccessibleName(accessible_name);
}

void ProgressLine::set_fraction(double done) {
  const int steps = static_cast<int>(kSteps * done);
  if (steps == value()) return;
  setUpdatesEnabled(false);
  setValue(steps);
  setUpdatesEnabled(true);
}

QString remaining_time(double seconds) {
  if (seconds < 90) {
    return QObject::tr("about %1 s left").arg(std::max(1, static_cast<int>(std::lround(seconds))));
  }
  return QObject::tr("about %1 min left").arg(static_cast<int>(std::lround(seconds / 60)));
}

}  // namespace attnscope
