// Timing of the window's redraws while results arrive.
#pragma once

#include <QObject>
#include <QTimer>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

class QWidget;

namespace attnscope {

class JobQueue;

/// One redraw of the window.
struct FrameTime {
  double end_s = 0;       ///< time of std::chrono::steady_clock, seconds
  double drawing_ms = 0;  ///< milliseconds
  /// Milliseconds from the first action of the user that had not been drawn to the end; absent if
  /// the redraw does not follow an action at once.
  std::optional<double> after_action_ms;
};

/// Rows "end_s,drawing_ms,after_action_ms", below a row with these names.
[[nodiscard]] std::string frame_times_as_csv(const std::vector<FrameTime>& frames);

/// Groups redraws, because results arrive in bursts: a model's maps, its spectra, and several
/// figures of them, within a tenth of a second. Drawn one by one with software OpenGL, each would
/// wait for the redraw of the previous one. Results are drawn when no job is left, at the latest
/// after twice the duration of the last redraw or 100 ms, whichever is shorter. User actions are
/// drawn immediately. An announced burst is drawn only once, even if its jobs start one after
/// another.
class FramePace : public QObject {
  Q_OBJECT
 public:
  FramePace(QWidget& window, const JobQueue& jobs);

  /// Announces a burst, which is drawn together after 200 ms, or earlier if the user acts.
  void collect();

  /// Keeps the times of all redraws from now on.
  void record() { recording_ = true; }
  [[nodiscard]] const std::vector<FrameTime>& frames() const { return frames_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  /// The end of an action that was not drawn.
  void customEvent(QEvent* event) override;

 private:
  using Clock = std::chrono::steady_clock;

  /// Requests a pending redraw again, because Qt requests no other one while it is held back.
  void ask_anew();
  void draw();

  QWidget& window_;
  const JobQueue& jobs_;
  QTimer latest_;      ///< active while a redraw is held back
  QTimer collecting_;  ///< active while a burst is collected
  std::chrono::duration<double, std::milli> cost_;
  bool drawing_ = false;
  bool user_acted_ = false;  ///< true if the user acted since the last redraw
  bool recording_ = false;
  std::optional<Clock::time_point> acted_;  ///< the first action that may have an effect at once
  std::vector<FrameTime> frames_;
};

}  // namespace attnscope
