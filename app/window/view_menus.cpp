#include "app/window/view_menus.h"

#include <QAction>
#include <QIcon>
#include <QImage>
#include <QMenu>
#include <QMouseEvent>
#include <QPixmap>
#include <QStringList>
#include <QWidget>

#include "analysis/figure/colour_map.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

/// The colours of a map from its least to its greatest value.
QIcon strip_of(const ColourMap& map) {
  constexpr int kHeight = 14, kWidth = 32;  // pixels
  QImage strip(kWidth, kHeight, QImage::Format_RGB32);
  for (int x = 0; x < kWidth; ++x) {
    const Colour colour = colour_at(map, static_cast<double>(x) / (kWidth - 1));
    for (int y = 0; y < kHeight; ++y) {
      strip.setPixelColor(x, y, QColor(colour.red, colour.green, colour.blue));
    }
  }
  return QIcon(QPixmap::fromImage(strip));
}

QString text_of_name(std::string_view name) {
  return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

/// Opens a menu at a widget that is clicked.
class ClickFilter : public QObject {
 public:
  ClickFilter(QWidget& widget, QMenu& menu) : QObject(&widget), menu_(menu) {}

  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::MouseButtonPress) return QObject::eventFilter(watched, event);
    menu_.popup(static_cast<QMouseEvent*>(event)->globalPosition().toPoint());
    return true;
  }

 private:
  QMenu& menu_;
};

}  // namespace

void open_on_click(QWidget& widget, QMenu& menu) {
  widget.setCursor(Qt::PointingHandCursor);
  widget.installEventFilter(new ClickFilter(widget, menu));
}

ViewMenus::ViewMenus(Session& session, QMenu& view)
    : QObject(&view),
      session_(session),
      numbers_(view.addMenu(tr("&Number on the maps"))),
      colours_(view.addMenu(tr("&Colours"))) {
  add_numbers();
  add_colours();
  add_identity(*view.addMenu(tr("&Identity mapping")));
  connect(&session_, &Session::view_changed, this, &ViewMenus::refresh);
  refresh();
}

QAction* ViewMenus::add(QMenu& menu, const QString& name, const QString& text, const Test& is_set,
                        const Change& change) {
  QAction* const action = menu.addAction(text, this, [this, change] {
    ViewSettings view = session_.view();
    change(view);
    session_.set_view(view);
    refresh();  // the item that was set already stays marked
  });
  action->setObjectName(name);
  action->setCheckable(true);
  items_.push_back({action, is_set});
  return action;
}

void ViewMenus::add_numbers() {
  const struct {
    MapNumber number;
    QString text, tip;
  } choices[] = {{MapNumber::equivalent_rank, tr("Equivalent rank"),
                  tr("The fewest singular values that hold the share τ of their sum, or of the "
                     "sum of their squares")},
                 {MapNumber::effective_rank, tr("Effective rank"),
                  tr("exp of the entropy of the singular values")},
                 {MapNumber::stable_rank, tr("Stable rank"), tr("‖A‖²_F / σ₁²")},
                 {MapNumber::entropy, tr("Entropy"), tr("Mean entropy of the rows, in nats")},
                 {MapNumber::none, tr("No number"), {}}};
  for (const auto& choice : choices) {
    add(
        *numbers_, QString("number_%1").arg(static_cast<int>(choice.number)), choice.text,
        [number = choice.number](const ViewSettings& view) { return view.map_number == number; },
        [number = choice.number](ViewSettings& view) { view.map_number = number; })
        ->setToolTip(choice.tip);
  }
  numbers_->setToolTipsVisible(true);
  numbers_->addSeparator();
  add(
      *numbers_, "sorted_by_number", tr("Sort maps by number") + "\tShift+N",
      [](const ViewSettings& view) { return view.sorted_by_number; },
      [](ViewSettings& view) {
        view.sorted_by_number = !view.sorted_by_number;
        if (view.map_number == MapNumber::none) view.map_number = MapNumber::equivalent_rank;
      });
}

void ViewMenus::add_colours() {
  for (const ColourMap& map : colour_maps()) {
    if (map.diverging) continue;
    const std::string name(map.name);
    QAction* const action = add(
        *colours_, "colours_" + text_of_name(map.name), text_of_name(map.title),
        [name](const ViewSettings& view) { return view.colour_map == name; },
        [name](ViewSettings& view) { view.colour_map = name; });
    action->setIcon(strip_of(map));
    action->setIconVisibleInMenu(true);
  }
  colours_->addSeparator();
  add(
      *colours_, "reversed_colours", tr("Reversed"),
      [](const ViewSettings& view) { return view.reversed_colours; },
      [](ViewSettings& view) { view.reversed_colours = !view.reversed_colours; });
  colours_->addSeparator();
  const struct {
    ScaleNorm norm;
    QString text;
  } norms[] = {{ScaleNorm::linear, tr("Linear scale")},
               {ScaleNorm::logarithmic, tr("Logarithmic scale")},
               {ScaleNorm::symmetric_logarithmic, tr("Symmetric logarithmic scale")}};
  for (const auto& choice : norms) {
    add(
        *colours_, QString("norm_%1").arg(static_cast<int>(choice.norm)), choice.text,
        [norm = choice.norm](const ViewSettings& view) { return view.norm == norm; },
        [norm = choice.norm](ViewSettings& view) { view.norm = norm; });
  }
}

void ViewMenus::add_identity(QMenu& menu) {
  const struct {
    IdentityView identity;
    QString text;
  } choices[] = {{IdentityView::as_is, tr("As trained")},
                 {IdentityView::without, tr("A, without identity")},
                 {IdentityView::with, tr("A + I")}};
  for (const auto& choice : choices) {
    add(
        menu, QString("view_identity_%1").arg(static_cast<int>(choice.identity)), choice.text,
        [identity = choice.identity](const ViewSettings& view) {
          return view.identity == identity;
        },
        [identity = choice.identity](ViewSettings& view) { view.identity = identity; });
  }
}

void ViewMenus::refresh() {
  for (const Item& item : items_) item.action->setChecked(item.is_set(session_.view()));
}

QList<PaletteEntry> ViewMenus::entries() const {
  QList<PaletteEntry> entries;
  for (const Item& item : items_) {
    const QStringList text = item.action->text().split('\t');
    const auto* const menu = qobject_cast<const QMenu*>(item.action->parent());
    entries.push_back({text.value(0), menu->title().remove('&'), text.value(1),
                       [action = item.action] { action->trigger(); }});
  }
  return entries;
}

}  // namespace attnscope
