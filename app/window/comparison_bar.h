// Controls for the comparison of the open subjects: the reference, and the form of the comparison.
#pragma once

#include <QToolBar>

#include "app/widgets/elided_combo_box.h"

class QCheckBox;
class QSlider;
class QToolButton;

namespace attnscope {

class AtlasLink;
class Session;

/// Selects the subject that the others are compared with, or none.
class ReferenceBox : public ElidedComboBox {
  Q_OBJECT
 public:
  explicit ReferenceBox(Session& session, QWidget* parent = nullptr);

 private:
  void refresh();

  Session& session_;
};

/// A bar above the atlases while a reference is pinned, with the form of the comparison. Controls
/// that do not fit are behind its last button.
class ComparisonBar : public QToolBar {
  Q_OBJECT
 public:
  ComparisonBar(Session& session, AtlasLink& link, QWidget* parent = nullptr);

 private:
  [[nodiscard]] bool differ_by_special_tokens() const;
  void refresh();

  Session& session_;
  AtlasLink& link_;
  QComboBox* shown_;
  QSlider* amount_;  // position of the wipe, or opacity of the overlay
  QAction* amount_shown_;
  QComboBox* layers_;
  QCheckBox* match_;
  QAction* hide_special_;
  QToolButton* blink_;
};

}  // namespace attnscope
