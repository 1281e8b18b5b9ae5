#include "app/window/top_bar.h"

#include <QAction>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMenuBar>
#include <QSignalBlocker>
#include <QStyle>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/frame/matrix_button.h"
#include "app/session/session.h"
#include "app/widgets/tool_button.h"

namespace attnscope {

namespace {

constexpr int kLeastHeight = 24, kAroundText = 8;  // pixels
constexpr int kIcon = 16;                          // pixels at the default font size
constexpr int kAroundMenu = 17;  // pixels next to a menu's name, as in the style sheet

QWidget* space() {
  auto* widget = new QWidget;
  widget->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  return widget;
}

QToolButton* button_of(QAction* action, bool with_text) {
  auto* button = new QToolButton;
  button->setDefaultAction(action);
  button->setToolButtonStyle(with_text ? Qt::ToolButtonTextBesideIcon : Qt::ToolButtonIconOnly);
  button->setFocusPolicy(Qt::TabFocus);
  button->setAccessibleName(action->text().remove('&').remove("…"));
  return button;
}

/// "Rank at 90 %": a share in percent, with as many digits as it has.
class PercentBox : public QDoubleSpinBox {
 public:
  PercentBox() {
    setPrefix(TopBar::tr("Rank at "));
    setSuffix(TopBar::tr(" %"));
    setDecimals(1);
    setRange(1, 100);
    setSingleStep(5);
    setKeyboardTracking(false);
    setFocusPolicy(Qt::StrongFocus);
  }
  [[nodiscard]] QString textFromValue(double value) const override {
    return QLocale::c().toString(value, 'g', 4);
  }
};

}  // namespace

TopBar::TopBar(Session& session, QMenuBar* menus, const QList<QAction*>& left,
               const QList<QAction*>& right, QWidget* parent)
    : QToolBar(tr("Tools"), parent), session_(session) {
  setObjectName("top_bar");
  setMovable(false);
  setFloatable(false);
  setContextMenuPolicy(Qt::PreventContextMenu);

  menus_ = menus;
  menus_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
  for (auto* more : menus_->findChildren<QToolButton*>()) {
    more->setAccessibleName(tr("More menus"));
  }
  addWidget(menus_);
  for (QAction* action : left) {
    texted_ << button_of(action, true);
    addWidget(texted_.back());
  }
  addWidget(space());

  auto* settings = new QWidget;
  auto* row = new QHBoxLayout(settings);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  matrix_ = new MatrixButton(session);
  row->addWidget(matrix_);
  row->addSpacing(10);
  identity_word_ = new QLabel(tr("Identity"));
  identity_word_->setProperty("role", "view");
  row->addWidget(identity_word_);
  row->addSpacing(6);
  const std::array<const char*, 3> names = {QT_TR_NOOP("As trained"), "A", "A + I"};
  const std::array<const char*, 3> tips = {QT_TR_NOOP("Maps as the model has them"),
                                           QT_TR_NOOP("Maps without the identity matrix"),
                                           QT_TR_NOOP("Maps with the identity matrix added")};
  const std::array<const char*, 3> places = {"first", "middle", "last"};
  for (std::size_t i = 0; i < identity_.size(); ++i) {
    QToolButton* button = segment_button(
        QString("identity_%1").arg(i), tr(names[i]),
        tr("%1; the model does not run again (I toggles)").arg(tr(tips[i])), places[i]);
    button->setAccessibleName(tr("Identity mapping: %1").arg(tr(names[i])));
    connect(button, &QToolButton::clicked, this, [this, i] {
      ViewSettings view = session_.view();
      view.identity = static_cast<IdentityView>(i);
      session_.set_view(view);
    });
    row->addWidget(button);
    identity_[i] = button;
  }
  row->addSpacing(10);
  threshold_ = new PercentBox;
  threshold_->setAccessibleName(tr("Threshold of the equivalent rank"));
  threshold_->setToolTip(
      tr("The equivalent rank is the fewest singular values that hold this share of their sum Σσ, "
         "or of the sum of their squares Σσ²"));
  threshold_->setObjectName("rank_threshold");
  row->addWidget(threshold_);
  share_ = tool_button("rank_share", {}, tr("Share of Σσ (Adder paper) or of Σσ² (most others)"));
  row->addWidget(share_);
  addWidget(settings);
  addWidget(space());
  for (QAction* action : right) {
    const bool with_text = !action->text().isEmpty() && action->property("texted").toBool();
    QToolButton* const button = button_of(action, with_text);
    if (with_text) texted_ << button;
    in_menu_ << addWidget(button);
  }

  connect(threshold_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
    ViewSettings view = session_.view();
    view.rank_threshold.level = value / 100;
    session_.set_view(view);
  });
  connect(share_, &QToolButton::clicked, this, [this] {
    ViewSettings view = session_.view();
    RankShare& share = view.rank_threshold.of;
    share = share == RankShare::values ? RankShare::energy : RankShare::values;
    session_.set_view(view);
  });
  connect(&session_, &Session::view_changed, this, &TopBar::refresh);
  take_height();
  refresh();
}

void TopBar::refresh() {
  identity_[static_cast<std::size_t>(session_.view().identity)]->setChecked(true);
  const QSignalBlocker quiet(threshold_);
  threshold_->setValue(100 * session_.view().rank_threshold.level);
  const QString words =
      matrix_->text() + QString::fromUtf8(symbol_of(session_.view().rank_threshold.of));
  if (std::exchange(fitted_for_, words) != words) fit();
}

/// Gives all controls the height that the font needs, and icons its size.
void TopBar::take_height() {
  const int height = std::max(kLeastHeight, QFontMetrics(font()).height() + kAroundText);
  const int icon = qRound(kIcon * text_scale_of(font()));
  setIconSize(QSize(icon, icon));
  QList<QWidget*> all = findChildren<QWidget*>("rank_threshold");
  all << menus_;
  for (QToolButton* button : findChildren<QToolButton*>()) {
    if (button->parentWidget() == menus_) continue;
    button->setIconSize(QSize(icon, icon));
    all << button;
  }
  for (QComboBox* box : findChildren<QComboBox*>()) all << box;
  for (QWidget* one : all) {
    if (one->minimumHeight() != height) one->setFixedHeight(height);
  }
}

void TopBar::changeEvent(QEvent* event) {
  QToolBar::changeEvent(event);
  if (event->type() == QEvent::FontChange && threshold_ != nullptr) {
    take_height();
    fit();
  }
}

void TopBar::resizeEvent(QResizeEvent* event) {
  QToolBar::resizeEvent(event);
  fit();
}

void TopBar::fit() {
  // The menu bar gets a fixed width, otherwise it shrinks and hides menus.
  int menus = 0;
  for (const QAction* menu : menus_->actions()) {
    menus += menus_->fontMetrics().horizontalAdvance(menu->text().remove('&')) + kAroundMenu +
             style()->pixelMetric(QStyle::PM_MenuBarItemSpacing, nullptr, menus_);
  }
  menus_->setFixedWidth(menus);
  enum Leaving { nothing, button_texts, label, of_rank, identity_word, buttons };
  for (const Leaving leaving : {nothing, button_texts, label, of_rank, identity_word, buttons}) {
    matrix_->set_short(leaving >= label);
    threshold_->setPrefix(leaving < of_rank ? tr("Rank at ") : QString());
    const QString share = QString::fromUtf8(symbol_of(session_.view().rank_threshold.of));
    share_->setText(leaving < of_rank ? tr("of %1").arg(share) : share);
    identity_word_->setVisible(leaving < identity_word);
    for (QAction* const button : in_menu_) button->setVisible(leaving < buttons);
    for (QToolButton* button : texted_) {
      button->setToolButtonStyle(leaving < button_texts ? Qt::ToolButtonTextBesideIcon
                                                        : Qt::ToolButtonIconOnly);
    }
    if (needed_width() <= width()) break;
  }
  layout()->invalidate();
  layout()->activate();  // required during a resize
}

int TopBar::needed_width() const {
  constexpr int kMargins = 16;  // margins of the style sheet and the style
  int sum = kMargins;
  for (QAction* action : actions()) {
    if (!action->isVisible()) continue;
    const QWidget* const widget = widgetForAction(action);
    if (widget->layout() != nullptr) widget->layout()->invalidate();
    const int hint =
        std::clamp(widget->sizeHint().width(), widget->minimumWidth(), widget->maximumWidth());
    sum += hint + layout()->spacing();
  }
  return sum;
}

}  // namespace attnscope
