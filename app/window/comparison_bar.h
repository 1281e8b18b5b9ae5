// How the open subjects are compared: which is the reference, what the others show of it.
#pragma once

#include <QFrame>

class QCheckBox;
class QComboBox;
class QSlider;
class QToolButton;

namespace attnscope {

class ElidedLabel;
class Session;

/// A line over the atlases, there from two subjects on.
class ComparisonBar : public QFrame {
  Q_OBJECT
 public:
  explicit ComparisonBar(Session& session, QWidget* parent = nullptr);

 private:
  void refresh();

  Session& session_;
  QComboBox* reference_;
  QComboBox* shown_;
  QSlider* amount_;  // of the wipe or the overlay
  QComboBox* layers_;
  QCheckBox* match_;
  QToolButton* blink_;
  ElidedLabel* hint_;
};

}  // namespace attnscope
