// One strip with the colour scales of the atlases.
#pragma once

#include <QWidget>
#include <vector>

#include "app/canvas/value_range.h"

namespace attnscope {

class AtlasLink;
class Session;

/// The scale of weights, or one with the model's number for each model with its own range, and next
/// to it that of differences if some are shown. Marks in the models' colours stand at their values
/// under the linked cursor. A pointed end, with the extreme value next to it, means that values
/// beyond it are drawn in the end's colour. In a narrow strip, and for more than two models, only
/// the scale of the model under the cursor, or else of the selected one, is shown. The strip is
/// empty while no maps are open.
class ScaleStrip : public QWidget {
  Q_OBJECT
 public:
  ScaleStrip(Session& session, AtlasLink& link, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Mark {
    double value = 0;
    QColor colour;
  };
  struct Scale {
    ColourScale scale;
    ValueRange range;
    QString name;
    SubjectId subject = SubjectId::none;  ///< the model with that range; none: several
    bool without_values = false;  ///< some cells have no value: the strip explains the stripes
    std::vector<Mark> marks;
  };
  [[nodiscard]] std::vector<Scale> scales() const;
  [[nodiscard]] std::vector<Scale> scales_in(double width) const;
  [[nodiscard]] QString in_words(const Scale& scale) const;
  void take_own_range(Scale& scale) const;
  void refresh();
  void paint(QPainter& painter, const QRectF& area, const Scale& scale, const QFont& face) const;

  Session& session_;
  AtlasLink& link_;
  int count_ = 0;  ///< scales that a wide strip shows
};

}  // namespace attnscope
