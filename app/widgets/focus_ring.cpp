#include "app/widgets/focus_ring.h"

#include <QApplication>
#include <QFocusEvent>
#include <QPainter>
#include <QWidget>

#include "app/look/theme.h"

namespace attnscope {

namespace {

class Ring : public QWidget {
 public:
  explicit Ring(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    setGeometry(parent->rect());
    show();
    raise();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours_of(*this).text, 1.5));
    constexpr double kInside = 1, kRound = 4;
    painter.drawRoundedRect(QRectF(rect()).adjusted(kInside, kInside, -kInside, -kInside), kRound,
                            kRound);
  }
};

bool by_keys(const QFocusEvent& event) {
  return event.reason() == Qt::TabFocusReason || event.reason() == Qt::BacktabFocusReason ||
         event.reason() == Qt::ShortcutFocusReason;
}

}  // namespace

FocusRing::FocusRing(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

FocusRing::~FocusRing() { surround(nullptr); }

void FocusRing::surround(QWidget* widget) {
  delete ring_;
  if (widget != nullptr) ring_ = new Ring(widget);
}

bool FocusRing::eventFilter(QObject* watched, QEvent* event) {
  auto* const widget = watched->isWidgetType() ? static_cast<QWidget*>(watched) : nullptr;
  if (widget != nullptr && event->type() == QEvent::FocusIn) {
    surround(by_keys(*static_cast<QFocusEvent*>(event)) ? widget : nullptr);
  } else if (ring_ != nullptr && watched == ring_->parent()) {
    if (event->type() == QEvent::FocusOut) surround(nullptr);
    if (event->type() == QEvent::Resize) ring_->setGeometry(widget->rect());
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace attnscope
