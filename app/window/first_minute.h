// The first minute: three doors where nothing is open, and a card that explains the window in six
// sentences.
#pragma once

#include <QFrame>
#include <QWidget>

class QLabel;
class QMenu;
class QPushButton;

namespace attnscope {

class Highlight;

/// Buttons for the lessons, for a model and for a sample. `explained`: one below the other, each
/// next to its description; otherwise side by side.
class Doors : public QWidget {
  Q_OBJECT
 public:
  Doors(QMenu& samples, bool explained, QWidget* parent = nullptr);

 signals:
  /// Requests a command of the window by its id.
  void command_wanted(const QString& id);
};

/// One sentence at a time, with something to do, while the part of the window that it speaks of is
/// framed; at the end the doors. Hidden at first.
class FirstMinuteCard : public QFrame {
  Q_OBJECT
 public:
  FirstMinuteCard(QMenu& samples, Highlight& highlight, QWidget* parent = nullptr);

  /// False after the user has closed the card, in this run or an earlier one.
  [[nodiscard]] static bool is_wanted();
  /// Shows the first sentence.
  void begin();

 signals:
  void command_wanted(const QString& id);
  /// Requests the panel that the sentence speaks of.
  void panel_wanted(const QString& name);

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void frame_parts();
  void go_to(int place);
  void close_for_good();

  Highlight& highlight_;
  int place_ = 0;  ///< index of the sentence; their number: the doors
  QLabel* said_;
  QLabel* to_do_;
  Doors* doors_;
  QPushButton *back_, *next_;
};

}  // namespace attnscope
