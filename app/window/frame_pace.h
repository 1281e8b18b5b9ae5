// When the window is drawn while results come.
#pragma once

#include <QObject>
#include <QTimer>
#include <chrono>

class QWidget;

namespace attnscope {

class JobQueue;

/// Results come in bursts: a model's maps, its spectra, four figures of them, within a tenth of a
/// second. Drawn one by one, with OpenGL in software, they would wait for each other's pictures.
/// What came by itself is drawn when no job is left, or at the latest after twice the time that the
/// last picture took, and a tenth of a second; what the user does is drawn at once. Where a burst
/// is announced, all of it is one picture: jobs that follow from each other leave none in between.
class FramePace : public QObject {
  Q_OBJECT
 public:
  FramePace(QWidget& window, const JobQueue& jobs);

  /// A burst begins: a fifth of a second of it is drawn together, unless the user does something.
  void collect();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  using Clock = std::chrono::steady_clock;

  /// For the picture that is held back: Qt asks for no other as long as it is.
  void ask_anew();
  void draw();

  QWidget& window_;
  const JobQueue& jobs_;
  QTimer latest_;      ///< runs while a picture is held back
  QTimer collecting_;  ///< runs while a burst is collected
  std::chrono::duration<double, std::milli> cost_;
  bool drawing_ = false;
  bool user_acted_ = false;  ///< since the last picture
};

}  // namespace attnscope
