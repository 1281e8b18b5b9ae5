// How far work is, as a line that fills.
#pragma once

#include <QProgressBar>

namespace attnscope {

/// Without the number in words. Drawn with the window's next picture: QProgressBar's own setValue
/// draws the whole window at once, with the canvases in it.
class ProgressLine : public QProgressBar {
  Q_OBJECT
 public:
  explicit ProgressLine(const QString& accessible_name, QWidget* parent = nullptr);
  void set_fraction(double done);  ///< 0 to 1
};

}  // namespace attnscope
