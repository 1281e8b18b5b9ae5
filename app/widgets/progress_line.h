// A thin progress bar.
#pragma once

#include <QProgressBar>

namespace attnscope {

/// Progress bar without a percentage. It is repainted with the window's next frame: QProgressBar's
/// own setValue repaints the whole window at once, including the canvases.
class ProgressLine : public QProgressBar {
  Q_OBJECT
 public:
  explicit ProgressLine(const QString& accessible_name, QWidget* parent = nullptr);
  void set_fraction(double done);  ///< 0 to 1
};

}  // namespace attnscope
