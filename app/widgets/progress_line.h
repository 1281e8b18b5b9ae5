// Progress of a job: a thin bar, and the remaining time in words.
#pragma once

#include <QProgressBar>
#include <QString>

namespace attnscope {

/// Progress bar without a percentage. It is repainted with the window's next frame: QProgressBar's
/// own setValue repaints the whole window at once, including the canvases.
class ProgressLine : public QProgressBar {
  Q_OBJECT
 public:
  explicit ProgressLine(const QString& accessible_name, QWidget* parent = nullptr);
  void set_fraction(double done);  ///< 0 to 1
};

/// Words such as "about 2 min left".
[[nodiscard]] QString remaining_time(double seconds);

}  // namespace attnscope
