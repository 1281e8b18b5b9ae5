#include "app/window/comparison_bar.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "app/canvas/atlas_link.h"
#include "app/session/session.h"

namespace attnscope {

namespace {

constexpr int kLeastLetters = 5;  // minimum number of letters in a narrow window
constexpr int kLeastName = 9;     // letters of the reference's name

QComboBox* choice(const char* object_name, const QString& name, const QString& tip) {
  auto* box = new QComboBox;
  box->setMinimumContentsLength(kLeastLetters);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  box->setObjectName(object_name);
  box->setAccessibleName(name);
  box->setToolTip(tip);
  return box;
}

}  // namespace

ReferenceBox::ReferenceBox(Session& session, QWidget* parent)
    : ElidedComboBox(kLeastName, parent), session_(session) {
  setObjectName("reference");
  setAccessibleName(tr("Reference"));
  setToolTip(tr("Pin a reference to see differences, wipe and blink (P pins the selected model)"));
  setSizeAdjustPolicy(AdjustToMinimumContentsLengthWithIcon);
  connect(this, &QComboBox::activated, this, [this](int index) {  // the first item is "none"
    const auto place = static_cast<std::size_t>(index - 1);
    session_.set_reference(place < session_.subjects().size() ? session_.subjects()[place].id
                                                              : SubjectId::none);
  });
  connect(&session_, &Session::subjects_changed, this, &ReferenceBox::refresh);
  connect(&session_, &Session::reference_changed, this, &ReferenceBox::refresh);
  refresh();
}

void ReferenceBox::refresh() {
  const QSignalBlocker quiet(this);
  QStringList names = {tr("no reference")};
  for (std::int64_t i = 0; i < std::ssize(session_.subjects()); ++i) {
    names << QString("%1  %2").arg(i + 1).arg(
        QString::fromStdString(session_.subjects()[static_cast<std::size_t>(i)].subject.label));
  }
  QStringList shown;
  for (int i = 0; i < count(); ++i) shown << itemText(i);
  if (shown != names) {
    clear();
    addItems(names);
  }
  setCurrentIndex(static_cast<int>(session_.place_of(session_.reference())) + 1);
}

ComparisonBar::ComparisonBar(Session& session, AtlasLink& link, QWidget* parent)
    : QToolBar(tr("Comparison"), parent), session_(session), link_(link) {
  setObjectName("comparison_bar");
  shown_ = choice("comparison_view", tr("View of the compared models"),
                  tr("View of the models compared with the reference (D: maps or difference)"));
  shown_->addItems({tr("Maps"), tr("Difference"), tr("Absolute difference"),
                    tr("Relative difference"), tr("Wipe"), tr("Overlay")});
  amount_ = new QSlider(Qt::Horizontal);
  amount_->setObjectName("comparison_amount");
  amount_->setRange(0, 100);
  amount_->setFixedWidth(90);
  layers_ = choice("layer_alignment", tr("Layers of different depth"),
                   tr("Layer of the reference that a layer is compared with"));
  layers_->addItems({tr("Layers by index"), tr("Layers by depth")});
  match_ = new QCheckBox(tr("Match heads"));
  match_->setObjectName("match_heads");
  match_->setToolTip(tr("Pair each head with the most similar head of the reference"));
  blink_ = new QToolButton;
  blink_->setObjectName("blink");
  blink_->setText(tr("Blink"));
  blink_->setCheckable(true);
  blink_->setFocusPolicy(Qt::TabFocus);
  blink_->setToolTip(tr("The reference's maps in the place of the others', and back (Space)"));
  addWidget(new ReferenceBox(session_));
  addWidget(shown_);
  amount_shown_ = addWidget(amount_);
  addWidget(blink_);
  addWidget(layers_);
  addWidget(match_);
  auto* hide = new QToolButton;
  hide->setObjectName("hide_special");
  hide->setText(tr("Hide class tokens"));
  hide->setFocusPolicy(Qt::TabFocus);
  hide->setToolTip(
      tr("Maps differ in size only by their class tokens: without these they can be compared"));
  hide_special_ = addWidget(hide);

  const auto change = [this](auto set) {
    ViewSettings view = session_.view();
    set(view);
    session_.set_view(view);
  };
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
  connect(hide, &QToolButton::clicked, this,
          [change] { change([](ViewSettings& view) { view.hide_prefix_tokens = true; }); });
  connect(&link_, &AtlasLink::drawn_changed, this, &ComparisonBar::refresh);
  connect(&session_, &Session::subjects_changed, this, &ComparisonBar::refresh);
  connect(&session_, &Session::reference_changed, this, &ComparisonBar::refresh);
  connect(&session_, &Session::view_changed, this, &ComparisonBar::refresh);
  refresh();
}

/// True if some subject's maps differ in size from the reference's only by the number of class
/// tokens.
bool ComparisonBar::differ_by_special_tokens() const {
  const std::shared_ptr<const Trace> reference = session_.trace(session_.reference());
  if (!reference || session_.view().hide_prefix_tokens) return false;
  return std::ranges::any_of(session_.subjects(), [&](const OpenSubject& open) {
    const std::shared_ptr<const Trace>& trace = open.subject.trace;
    return trace && trace->tokens() != reference->tokens() &&
           trace->tokens() - trace->layout.prefix == reference->tokens() - reference->layout.prefix;
  });
}

void ComparisonBar::refresh() {
  hide_special_->setVisible(differ_by_special_tokens());
  setVisible(session_.reference() != SubjectId::none && session_.subjects().size() >= 2);
  const QSignalBlocker quiet[] = {QSignalBlocker(shown_), QSignalBlocker(amount_),
                                  QSignalBlocker(layers_), QSignalBlocker(match_)};
  const ViewSettings& view = session_.view();
  shown_->setCurrentIndex(static_cast<int>(view.comparison));
  layers_->setCurrentIndex(static_cast<int>(view.layer_alignment));
  match_->setChecked(view.match_heads);
  blink_->setChecked(link_.blinking());
  const bool wipe = view.comparison == ComparisonView::wipe;
  amount_shown_->setVisible(wipe || view.comparison == ComparisonView::overlay);
  amount_->setAccessibleName(wipe ? tr("Position of the divider") : tr("Opacity of the reference"));
  amount_->setToolTip(amount_->accessibleName());
  amount_->setValue(
      static_cast<int>(std::lround(100 * (wipe ? view.wipe_position : view.overlay_opacity))));
}

}  // namespace attnscope
