#include "app/panels/frame/highlight.h"

#include <QDockWidget>
#include <QPainter>
#include <QRegion>
#include <algorithm>

#include "app/canvas/atlas_canvas.h"
#include "app/look/theme.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr int kFollowMs = 80;
constexpr int kFrameWidth = 5, kEdge = 1;  // pixels; kEdge: of the dark and the light line
constexpr QSize kNumberCorner(34, 22);     // pixels, with the gauge below the number

/// The parts of an atlas with these names, in the canvas.
QRect part_of_atlas(const AtlasCanvas& canvas, const QString& part) {
  const AtlasCanvas::Selected selected = canvas.selected_rects();
  if (part == "row") return selected.row.toAlignedRect();
  const QRect map = selected.map.toAlignedRect();
  if (part != "number" || map.isEmpty()) return map;
  const QSize corner = kNumberCorner.boundedTo(map.size());
  return {map.bottomRight() - QPoint(corner.width() - 1, corner.height() - 1), corner};
}

}  // namespace

Highlight::Highlight(QWidget& window, const Session& session)
    : QWidget(&window), window_(window), session_(session) {
  setObjectName("highlight");
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setFocusPolicy(Qt::NoFocus);
  hide();
  clock_.setInterval(kFollowMs);
  end_.setSingleShot(true);
  connect(&clock_, &QTimer::timeout, this, &Highlight::follow);
  connect(&end_, &QTimer::timeout, this, &Highlight::clear);
}

void Highlight::show_parts(const QStringList& parts, int milliseconds) {
  begin(parts, {});
  if (milliseconds > 0) end_.start(milliseconds);
}

void Highlight::show_text(const QString& text) { begin({}, text); }

void Highlight::clear() { begin({}, {}); }

void Highlight::begin(const QStringList& parts, const QString& text) {
  end_.stop();
  parts_ = parts;
  text_ = text;
  frames_.clear();
  const bool any = !parts_.isEmpty() || !text_.isEmpty();
  any ? clock_.start() : clock_.stop();
  hide();
  if (any) follow();
}

void Highlight::follow() {
  const QRect inside =
      window_.rect().adjusted(kFrameWidth, kFrameWidth, -kFrameWidth, -kFrameWidth);
  QList<QRect> frames;
  if (!text_.isEmpty()) frames << inside;
  for (const QString& part : parts_) {
    for (const QRect& place : places_of(part)) {
      if (const QRect seen = place.intersected(inside); !seen.isEmpty()) frames << seen;
    }
  }
  if (frames == frames_ && isVisible() == !frames.isEmpty() && size() == window_.size()) return;
  frames_ = frames;
  hide();  // a new mask alone leaves the former frame over the atlases, which OpenGL draws
  setGeometry(window_.rect());
  // The mask leaves out everything else, so that the views below are drawn as without it.
  QRegion covered;
  for (const QRect& frame : frames_) {
    covered += QRegion(frame.adjusted(-kFrameWidth, -kFrameWidth, kFrameWidth, kFrameWidth)) -
               QRegion(frame);
  }
  if (!text_.isEmpty()) covered += text_box();
  setMask(covered);
  setVisible(!frames_.isEmpty());
  raise();
  update();
}

QRect Highlight::text_box() const {
  constexpr int kAround = 18;
  const QSize widest = window_.size() - QSize(8 * kAround, 8 * kAround);
  QRect box = fontMetrics().boundingRect(QRect(QPoint(), widest), Qt::TextWordWrap, text_);
  box.adjust(-kAround, -kAround, kAround, kAround);
  box.moveCenter(window_.rect().center());
  return box;
}

QList<QRect> Highlight::places_of(const QString& part) const {
  if (part.contains('+')) {
    QRect all;
    for (const QString& one : part.split('+')) {
      for (const QRect& place : places_of(one)) all |= place;
    }
    return {all};
  }
  const auto in_window = [this](const QWidget& widget, const QRect& rect) {
    return QRect(widget.mapTo(&window_, rect.topLeft()), rect.size());
  };
  const auto seen = [this](const QWidget& widget) {
    return widget.window() == &window_ && !widget.visibleRegion().isEmpty();
  };
  QList<QRect> places;
  if (part.startsWith("dock:")) {
    const QString name = part.mid(5);
    for (const QDockWidget* const dock : window_.findChildren<QDockWidget*>()) {
      const bool has_page = dock->property("pages").toStringList().contains(name);
      if ((has_page || dock->objectName() == name) && seen(*dock)) {
        places << in_window(*dock, dock->rect());
      }
    }
    return places;
  }
  const bool whole = part == "maps" || part.startsWith("maps_");
  if (!whole && part != "map" && part != "row" && part != "number") {
    for (const QWidget* const widget : window_.findChildren<QWidget*>(part)) {
      if (seen(*widget)) places << in_window(*widget, widget->rect());
    }
    return places;
  }
  const std::int64_t number = part.mid(5).toLongLong();  // 0: every model
  for (const AtlasCanvas* const canvas : window_.findChildren<AtlasCanvas*>()) {
    if (!seen(*canvas)) continue;
    if (whole && (number == 0 || session_.place_of(canvas->subject()) == number - 1)) {
      places << in_window(*canvas, canvas->rect());
    } else if (!whole && canvas->subject() == session_.selection().subject) {
      places << in_window(*canvas, part_of_atlas(*canvas, part));
    }
  }
  return places;
}

void Highlight::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const WindowColours& colours = colours_of(window_);
  for (const QRect& frame : frames_) {
    // Between a dark and a light line the colour is visible on maps of every colour.
    const QRect outer = frame.adjusted(-kFrameWidth, -kFrameWidth, kFrameWidth, kFrameWidth);
    painter.fillRect(outer, Qt::black);
    painter.fillRect(outer.adjusted(kEdge, kEdge, -kEdge, -kEdge), colours.accent);
    painter.fillRect(frame.adjusted(-kEdge, -kEdge, kEdge, kEdge), Qt::white);
  }
  if (text_.isEmpty()) return;
  painter.fillRect(text_box(), colours.raised);
  painter.setPen(colours.text);
  painter.drawText(text_box(), Qt::AlignCenter | Qt::TextWordWrap, text_);
}

}  // namespace attnscope
