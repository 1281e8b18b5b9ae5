#include "app/window/top_bar.h"

#include <QAction>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>

#include "app/session/session.h"
#include "app/widgets/segment_button.h"

namespace attnscope {

namespace {

constexpr int kHeight = 30;

QWidget* space() {
  auto* widget = new QWidget;
  widget->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  return widget;
}

QToolButton* button_of(QAction* action, bool with_text) {
  auto* button = new QToolButton;
  button->setDefaultAction(action);
  button->setToolButtonStyle(with_text ? Qt::ToolButtonTextBesideIcon : Qt::ToolButtonIconOnly);
  button->setIconSize(QSize(16, 16));
  button->setMinimumHeight(kHeight);
  button->setFocusPolicy(Qt::TabFocus);
  button->setAccessibleName(action->text().remove('&').remove("…"));
  return button;
}

}  // namespace

TopBar::TopBar(Session& session, const QList<QAction*>& left, const QList<QAction*>& right,
               QWidget* parent)
    : QToolBar(tr("Tools"), parent), session_(session) {
  setObjectName("top_bar");
  setMovable(false);
  setFloatable(false);
  setContextMenuPolicy(Qt::PreventContextMenu);

  auto* wordmark = new QLabel("Attnscope");
  wordmark->setObjectName("wordmark");
  QFont font = wordmark->font();
  font.setPointSizeF(font.pointSizeF() + 2.5);
  font.setWeight(QFont::DemiBold);
  wordmark->setFont(font);
  wordmark->setContentsMargins(4, 0, 10, 0);
  addWidget(wordmark);
  for (QAction* action : left) addWidget(button_of(action, true));
  addWidget(space());

  auto* settings = new QWidget;
  auto* row = new QHBoxLayout(settings);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  auto* identity_label = new QLabel(tr("Identity mapping"));
  row->addWidget(identity_label);
  row->addSpacing(8);
  const std::array<const char*, 3> names = {QT_TR_NOOP("As is"), QT_TR_NOOP("Without I"),
                                            QT_TR_NOOP("With I")};
  const std::array<const char*, 3> tips = {
      QT_TR_NOOP("Maps as the mechanism has them"), QT_TR_NOOP("The identity matrix taken away"),
      QT_TR_NOOP("The identity matrix added (press I to toggle)")};
  const std::array<const char*, 3> places = {"first", "middle", "last"};
  for (std::size_t i = 0; i < identity_.size(); ++i) {
    QToolButton* button = segment_button(tr(names[i]), tr(tips[i]), places[i]);
    button->setAccessibleName(tr("Identity mapping: %1").arg(tr(names[i])));
    button->setObjectName(QString("identity_%1").arg(i));
    button->setMinimumHeight(kHeight);
    connect(button, &QToolButton::clicked, this, [this, i] {
      ViewSettings view = session_.view();
      view.identity = static_cast<IdentityView>(i);
      session_.set_view(view);
    });
    row->addWidget(button);
    identity_[i] = button;
  }
  row->addSpacing(18);
  auto* threshold_label = new QLabel(tr("Rank at τ"));
  threshold_ = new QDoubleSpinBox;
  threshold_->setRange(0.01, 1.0);
  threshold_->setSingleStep(0.05);
  threshold_->setDecimals(2);
  threshold_->setMinimumHeight(kHeight);
  threshold_->setKeyboardTracking(false);
  threshold_->setFocusPolicy(Qt::StrongFocus);
  threshold_->setAccessibleName(tr("Threshold of the equivalent rank"));
  threshold_->setToolTip(
      tr("The equivalent rank is the fewest singular values that hold this share of their sum"));
  threshold_->setObjectName("rank_threshold");
  threshold_label->setBuddy(threshold_);
  row->addWidget(threshold_label);
  row->addSpacing(8);
  row->addWidget(threshold_);
  addWidget(settings);
  addWidget(space());
  for (QAction* action : right)
    addWidget(button_of(action, !action->text().isEmpty() && action->property("texted").toBool()));

  connect(threshold_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    ViewSettings view = session_.view();
    view.rank_threshold = value;
    session_.set_view(view);
  });
  connect(&session_, &Session::view_changed, this, &TopBar::refresh);
  refresh();
}

void TopBar::refresh() {
  identity_[static_cast<std::size_t>(session_.view().identity)]->setChecked(true);
  const QSignalBlocker quiet(threshold_);
  threshold_->setValue(session_.view().rank_threshold);
}

}  // namespace attnscope
