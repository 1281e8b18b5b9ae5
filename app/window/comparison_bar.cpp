#include "app/window/comparison_bar.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <cmath>

#include "app/canvas/atlas_link.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"

namespace attnscope {

namespace {

constexpr int kBarHeight = 28;

constexpr int kLeastLetters = 5;  // that a list shows where the window is narrow

QComboBox* choice(const char* object_name, const QString& name, const QString& tip) {
  auto* box = new QComboBox;
  box->setMinimumContentsLength(kLeastLetters);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  box->setObjectName(object_name);
  box->setAccessibleName(name);
  box->setToolTip(tip);
  box->setFixedHeight(kBarHeight);
  return box;
}

}  // namespace

ComparisonBar::ComparisonBar(Session& session, AtlasLink& link, QWidget* parent)
    : QFrame(parent), session_(session), link_(link) {
  setObjectName("comparison_bar");
  reference_ = choice("reference", tr("Reference"),
                      tr("What the other subjects are compared with (P pins the selected one)"));
  shown_ = choice("comparison_view", tr("What the others show"),
                  tr("What the atlases beside the reference show (D: maps or difference)"));
  shown_->addItems({tr("Maps"), tr("Difference"), tr("Absolute difference"),
                    tr("Relative difference"), tr("Wipe"), tr("Overlay")});
  amount_ = new QSlider(Qt::Horizontal);
  amount_->setObjectName("comparison_amount");
  amount_->setRange(0, 100);
  amount_->setFixedWidth(90);
  layers_ = choice("layer_alignment", tr("Layers of different depth"),
                   tr("Which layer of the reference a layer is compared with"));
  layers_->addItems({tr("Layers by index"), tr("Layers by depth")});
  match_ = new QCheckBox(tr("Match heads"));
  match_->setObjectName("match_heads");
  match_->setToolTip(
      tr("Each head beside the reference's most similar one: the assignment with the least sum of "
         "divergences"));
  blink_ = new QToolButton;
  blink_->setObjectName("blink");
  blink_->setText(tr("Blink"));
  blink_->setCheckable(true);
  blink_->setFixedHeight(kBarHeight);
  blink_->setFocusPolicy(Qt::TabFocus);
  blink_->setToolTip(tr("The reference's maps in the place of the others', and back (Space)"));
  hint_ = new ElidedLabel(Qt::ElideRight);
  hint_->set_text(tr("Pin a reference to see differences, wipe and blink"));
  hint_->setProperty("role", "muted");

  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(2, 6, 2, 0);
  row->setSpacing(8);
  row->addWidget(new QLabel(tr("Reference")));
  row->addWidget(reference_);
  row->addWidget(hint_);
  row->addWidget(shown_);
  row->addWidget(amount_);
  row->addWidget(blink_);
  row->addWidget(layers_);
  row->addWidget(match_);
  row->addStretch(1);

  const auto change = [this](auto set) {
    ViewSettings view = session_.view();
    set(view);
    session_.set_view(view);
  };
  connect(reference_, &QComboBox::activated, this,
          [this](int index) {  // the first says "none"
            const auto place = static_cast<std::size_t>(index - 1);
            session_.set_reference(place < session_.subjects().size()
                                       ? session_.subjects()[place].id
                                       : SubjectId::none);
          });
  connect(shown_, &QComboBox::activated, this, [this, change](int index) {
    link_.set_blinking(false);
    change([index](ViewSettings& view) { view.comparison = static_cast<ComparisonView>(index); });
  });
  connect(amount_, &QSlider::valueChanged, this, [change](int value) {
    change([value](ViewSettings& view) {
      (view.comparison == ComparisonView::wipe ? view.wipe_position : view.overlay_opacity) =
          value / 100.0;
    });
  });
  connect(layers_, &QComboBox::activated, this, [change](int index) {
    change(
        [index](ViewSettings& view) { view.layer_alignment = static_cast<LayerAlignment>(index); });
  });
  connect(match_, &QCheckBox::toggled, this,
          [change](bool on) { change([on](ViewSettings& view) { view.match_heads = on; }); });
  connect(blink_, &QToolButton::clicked, this, [this] { link_.blink(); });
  connect(&link_, &AtlasLink::drawn_changed, this, &ComparisonBar::refresh);
  connect(&session_, &Session::subjects_changed, this, &ComparisonBar::refresh);
  connect(&session_, &Session::reference_changed, this, &ComparisonBar::refresh);
  connect(&session_, &Session::view_changed, this, &ComparisonBar::refresh);
  refresh();
}

void ComparisonBar::refresh() {
  setVisible(session_.subjects().size() >= 2);
  const QSignalBlocker quiet[] = {QSignalBlocker(reference_), QSignalBlocker(shown_),
                                  QSignalBlocker(amount_), QSignalBlocker(layers_),
                                  QSignalBlocker(match_)};
  QStringList names = {tr("none")};
  for (std::int64_t i = 0; i < std::ssize(session_.subjects()); ++i) {
    names << QString("%1  %2").arg(i + 1).arg(
        QString::fromStdString(session_.subjects()[static_cast<std::size_t>(i)].subject.label));
  }
  QStringList shown;
  for (int i = 0; i < reference_->count(); ++i) shown << reference_->itemText(i);
  if (shown != names) {
    reference_->clear();
    reference_->addItems(names);
  }
  reference_->setCurrentIndex(static_cast<int>(session_.place_of(session_.reference())) + 1);

  const bool pinned = session_.reference() != SubjectId::none;
  const ViewSettings& view = session_.view();
  hint_->setVisible(!pinned);
  for (QWidget* widget : {static_cast<QWidget*>(shown_), static_cast<QWidget*>(layers_),
                          static_cast<QWidget*>(match_), static_cast<QWidget*>(blink_)}) {
    widget->setVisible(pinned);
  }
  shown_->setCurrentIndex(static_cast<int>(view.comparison));
  layers_->setCurrentIndex(static_cast<int>(view.layer_alignment));
  match_->setChecked(view.match_heads);
  blink_->setChecked(link_.blinking());
  const bool wipe = view.comparison == ComparisonView::wipe;
  amount_->setVisible(pinned && (wipe || view.comparison == ComparisonView::overlay));
  amount_->setAccessibleName(wipe ? tr("Place of the divider") : tr("Opacity of the reference"));
  amount_->setToolTip(amount_->accessibleName());
  amount_->setValue(
      static_cast<int>(std::lround(100 * (wipe ? view.wipe_position : view.overlay_opacity))));
}

}  // namespace attnscope
