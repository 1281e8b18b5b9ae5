#include "app/widgets/progress_line.h"

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

}  // namespace attnscope
