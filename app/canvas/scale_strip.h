// One strip with the colour scale that all atlases share.
#pragma once

#include <QWidget>
#include <vector>

#include "app/canvas/value_range.h"

namespace attnscope {

class AtlasLink;
class Session;

/// The scale of weights, and next to it that of differences if some are shown, each with marks in
/// the models' colours at their values under the linked cursor. A pointed end means that values
/// beyond it are drawn in the end's colour. The strip is empty while no maps are open.
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
    bool without_values = false;  ///< some cells have no value: the strip explains the stripes
    std::vector<Mark> marks;
  };
  [[nodiscard]] std::vector<Scale> scales() const;
  void take_own_range(Scale& scale) const;
  void refresh();
  static void paint(QPainter& painter, const QRectF& area, const Scale& scale, const QFont& face,
                    const QWidget& look);

  Session& session_;
  AtlasLink& link_;
};

}  // namespace attnscope
