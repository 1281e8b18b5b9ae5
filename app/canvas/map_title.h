// The line above a map that is shown by itself: its name and numbers, the way to its neighbours,
// and the way back.
#pragma once

#include <QFrame>
#include <QString>

class QToolButton;

namespace attnscope {

class ElidedLabel;

class MapTitle : public QFrame {
  Q_OBJECT
 public:
  explicit MapTitle(QWidget* parent);
  /// `tip` explains the numbers in `text`. `previous` and `next`: there is such a map.
  void set_map(const QString& text, const QString& tip, bool previous, bool next);
  [[nodiscard]] QString text() const;

 signals:
  void step_wanted(int step);  ///< −1: the previous map, 1: the next
  void back_wanted();          ///< all maps again
  void entered();              ///< the cursor has left the maps for this line

 protected:
  void enterEvent(QEnterEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QToolButton* previous_;
  QToolButton* next_;
  ElidedLabel* name_;
  QToolButton* back_;
};

}  // namespace attnscope
