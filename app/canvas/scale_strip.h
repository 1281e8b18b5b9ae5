// What the colours of the maps stand for, in one line for all atlases: they share one scale.
#pragma once

#include <QWidget>
#include <vector>

#include "app/canvas/value_range.h"

namespace attnscope {

class AtlasLink;
class Session;

/// The scale of weights, and beside it that of differences where some are shown; on each, in the
/// subjects' colours, where their values under the linked cursor lie. Pointed ends: there are
/// values beyond, drawn in the last colour. Nothing while no maps are open.
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
    bool without_values = false;  ///< some cells have none: the stripes are explained
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
