// How the open subjects are compared: which is the reference, what the others show of it.
#pragma once

#include <QFrame>

class QCheckBox;
class QComboBox;
class QSlider;
class QToolButton;

namespace attnscope {

class AtlasLink;
class ElidedLabel;
class Session;

/// A line over the atlases, there from two subjects on.
class ComparisonBar : public QFrame {
  Q_OBJECT
 public:
  ComparisonBar(Session& session, AtlasLink& link, QWidget* parent = nullptr);

 private:
  void refresh();

  Session& session_;
  AtlasLink& link_;
  QComboBox* reference_;
  QComboBox* shown_;
  QSlider* amount_;  // of the wipe or the overlay
  QComboBox* layers_;
  QCheckBox* match_;
  QToolButton* blink_;
  ElidedLabel* hint_;
};

}  // namespace attnscope
