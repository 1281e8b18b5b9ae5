#include "app/panels/what_if/what_if_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/look/theme.h"
#include "app/session/prediction.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/bold_line.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/number_slider.h"
#include "app/widgets/segments.h"
#include "app/widgets/subject_badge.h"
#include "app/widgets/tool_button.h"
#include "app/widgets/wrapped_label.h"
#include "core/attention/mechanism.h"

namespace attnscope {

namespace {

constexpr int kPlayMs = 40;
constexpr double kPlayStep = 0.02;

/// The greatest possible rank of a map: the largest min(queries, keys) of all layers.
std::int64_t largest_rank(const Trace& trace) {
  std::int64_t largest = 1;
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    largest = std::max(largest, std::min(trace.queries(layer), trace.keys(layer)));
  }
  return largest;
}

bool all_square(const Trace& trace) {
  for (std::int64_t layer = 0; layer < std::ssize(trace.layers); ++layer) {
    if (trace.queries(layer) != trace.keys(layer)) return false;
  }
  return true;
}

/// The trace with unchanged maps.
const Trace& by_itself(const OpenSubject& open) {
  return open.unchanged ? *open.unchanged : *open.subject.trace;
}

QString likeliest(const Subject& subject) {
  const auto prediction = prediction_of(subject, 1);
  if (!prediction || prediction->likeliest.empty()) return {};
  const Answer& answer = prediction->likeliest.front();
  return QString("%1 %2 %")
      .arg(QString::fromStdString(answer.name))
      .arg(100 * answer.probability, 0, 'f', 1);
}

QString title_of(const ReplacedHead& head) {
  return WhatIfPanel::tr("Layer %1, head %2").arg(head.layer).arg(head.head);
}

}  // namespace

WhatIfPanel::WhatIfPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), spectra_(spectra) {
  add_target();
  auto* of = new QHBoxLayout;
  badge_ = new SubjectBadge(0);
  name_ = new ElidedLabel(Qt::ElideRight);
  name_->setObjectName("what_if_subject");
  all_ = new QCheckBox(tr("All models"));
  all_->setObjectName("what_if_all");
  all_->setToolTip(tr("Apply changes to every open model"));
  of->addWidget(badge_);
  of->addWidget(name_, 1);
  of->addWidget(all_);
  body()->addLayout(of);
  ranks_ = new BoldLine;
  ranks_->setObjectName("what_if_ranks");
  body()->addWidget(ranks_);
  result_ = new WrappedLabel;
  result_->setObjectName("what_if_result");
  result_->setTextFormat(Qt::RichText);
  body()->addWidget(result_);
  add_sliders();
  add_buttons();
  body()->addStretch(1);
  connect(&session_, &Session::subjects_changed, this, &WhatIfPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &WhatIfPanel::refresh);
  connect(&session_, &Session::view_changed, this, &WhatIfPanel::refresh);
  connect(&spectra_, &SpectrumStore::spectra_ready, this, &WhatIfPanel::refresh);
  refresh();
}

void WhatIfPanel::add_target() {
  as_run_ = segment_button(
      "what_if_run", tr("Run"),
      tr("The model runs again with the changes: maps, ranks and answer follow"), "first");
  as_picture_ = segment_button(
      "what_if_picture", tr("Picture"),
      tr("Only the picture of the maps changes, of all models and at once; none runs"), "last");
  as_run_->setChecked(true);
  auto* segments = new Segments;
  segments->add(as_run_);
  segments->add(as_picture_);
  add_to_header(segments);
  target_ = new WrappedLabel;
  target_->setObjectName("what_if_target");
  body()->addWidget(target_);
  connect(as_picture_, &QToolButton::toggled, this, &WhatIfPanel::refresh);
}

void WhatIfPanel::add_sliders() {
  identity_ = new NumberSlider(tr("A + εI: ε"), {0, 1, 0.01}, 0);
  identity_->setObjectName("what_if_identity");
  identity_->setToolTip(
      tr("How much of the identity matrix is added to every map: 0 is A, 1 the "
         "identity mapping (Adder, Eq. 20)"));
  play_ = tool_button("what_if_play", "▶", tr("Go from A to A + I"));
  auto* row = new QHBoxLayout;
  row->addWidget(identity_, 1);
  row->addWidget(play_);
  body()->addLayout(row);

  other_ = new ElidedComboBox;
  other_->setObjectName("what_if_toward");
  other_->setAccessibleName(tr("The other attention over the same weights"));
  share_ = new NumberSlider(tr("Blend: s"), {0, 1, 0.01}, 0);
  share_->setObjectName("what_if_share");
  share_->setToolTip(
      tr("Blend with another attention, (1 − s) A + s B. 0: this model's maps, 1: the other's"));
  // One below the other: next to a slider the text would be cut.
  body()->addWidget(other_);
  body()->addWidget(share_);

  temperature_ = new NumberSlider(tr("Temperature T"), {0.1, 10, 0.01, true}, 1);
  temperature_->setObjectName("what_if_temperature");
  temperature_->setToolTip(
      tr("Rows to the power 1/T, scaled to their former sums: below 1 sharper, above 1 flatter"));
  body()->addWidget(temperature_);
  rank_ = new NumberSlider(tr("Rank at most"), {1, 2, 1}, 2);
  rank_->setObjectName("what_if_rank");
  rank_->setToolTip(tr("Every map becomes its best approximation of this rank, A_r, without I"));
  body()->addWidget(rank_);
  rest_ = new QCheckBox(tr("Show the remainder, A − A_r"));
  rest_->setObjectName("what_if_rest");
  body()->addWidget(rest_);
  connect(rest_, &QCheckBox::toggled, this, &WhatIfPanel::slid);
  for (NumberSlider* slider : {identity_, share_, temperature_, rank_}) {
    connect(slider, &NumberSlider::value_changed, this, &WhatIfPanel::slid);
  }
  connect(other_, &QComboBox::activated, this, &WhatIfPanel::slid);
  connect(play_, &QToolButton::clicked, this, &WhatIfPanel::play);
  playing_.setInterval(kPlayMs);
  connect(&playing_, &QTimer::timeout, this, [this] {
    const double next = identity_->value() + kPlayStep;
    identity_->set_value(next);
    if (next >= 1 || !selected()) playing_.stop();
  });
}

void WhatIfPanel::add_buttons() {
  heads_ = new QWidget;
  auto* list = new QVBoxLayout(heads_);
  list->setContentsMargins(0, 0, 0, 0);
  list->setSpacing(3);
  body()->addWidget(heads_);
  drop_ = new QPushButton;
  drop_->setObjectName("what_if_drop");
  reset_ = new QPushButton(tr("Reset"));
  reset_->setObjectName("what_if_reset");
  reset_->setToolTip(tr("Undo all changes"));
  auto* row = new QHBoxLayout;
  row->addWidget(drop_);
  row->addStretch(1);
  row->addWidget(reset_);
  body()->addLayout(row);
  run_only_ << badge_ << name_ << all_ << identity_ << play_ << other_ << share_ << heads_ << drop_;
  connect(drop_, &QPushButton::clicked, this, [this] {
    const OpenSubject* const open = selected();
    if (!open) return;
    const Selection& at = session_.selection();
    apply(*open, with_head(open->what_if, {at.layer, at.head}));
  });
  connect(reset_, &QPushButton::clicked, this, [this] {
    playing_.stop();
    if (of_picture()) {
      ViewSettings view = session_.view();
      view.temperature = 1;
      view.shown_rank = 0;
      view.shows_rest = false;
      return session_.set_view(view);
    }
    if (const OpenSubject* const open = selected()) apply(*open, {});
  });
}

const OpenSubject* WhatIfPanel::selected() const {
  const OpenSubject* const open = session_.find(session_.selection().subject);
  return open && open->subject.model && open->subject.trace ? open : nullptr;
}

void WhatIfPanel::play() {
  if (playing_.isActive()) return playing_.stop();
  identity_->set_value(0);
  playing_.start();
}

WhatIf WhatIfPanel::said(const OpenSubject& open) const {
  WhatIf what_if = open.what_if;
  const Trace& own = by_itself(open);
  const double held = shows_identity(own, IdentityView::as_is) ? 1 : 0;
  what_if.identity = identity_->isEnabled() && identity_->value() != held
                         ? std::optional(identity_->value())
                         : std::nullopt;
  what_if.temperature = temperature_->value();
  const std::int64_t rank = std::llround(rank_->value());
  what_if.rank = rank < largest_rank(own) ? std::optional(rank) : std::nullopt;
  what_if.toward = static_cast<SubjectId>(other_->currentData().toLongLong());
  what_if.share = what_if.toward == SubjectId::none ? 0 : share_->value();
  if (what_if.share == 0) what_if.toward = SubjectId::none;
  return what_if;
}

void WhatIfPanel::slid() {
  if (shows_) return;
  if (of_picture()) return apply_to_picture();
  share_->setEnabled(other_->currentData().toLongLong() != 0);
  if (const OpenSubject* const open = selected()) apply(*open, said(*open));
}

void WhatIfPanel::apply(const OpenSubject& open, WhatIf what_if) {
  if (what_if.identity && session_.view().identity != IdentityView::as_is) {
    // A view that adds or removes I would show another ε than the slider.
    ViewSettings view = session_.view();
    view.identity = IdentityView::as_is;
    session_.set_view(view);
  }
  std::vector<SubjectId> ids = {open.id};
  if (all_->isChecked()) {
    ids.clear();
    for (const OpenSubject& one : session_.subjects()) {
      if (one.subject.model) ids.push_back(one.id);
    }
  }
  const SubjectId chosen = open.id;
  for (const SubjectId id : ids) {
    WhatIf own = what_if;
    if (id != chosen) {
      own.toward = SubjectId::none;
      own.share = 0;
    }
    session_.set_what_if(id, own);
  }
}

bool WhatIfPanel::of_picture() const { return as_picture_->isChecked() || selected() == nullptr; }

void WhatIfPanel::apply_to_picture() {
  const std::shared_ptr<const Trace> trace = session_.trace(session_.selection().subject);
  if (!trace) return;
  ViewSettings view = session_.view();
  view.temperature = temperature_->value();
  const std::int64_t rank = std::llround(rank_->value());
  view.shown_rank = rank < largest_rank(*trace) ? rank : 0;
  view.shows_rest = rest_->isChecked();
  session_.set_view(view);
}

void WhatIfPanel::refresh() {
  const OpenSubject* const open = selected();
  if (!open && !session_.trace(session_.selection().subject)) {
    return show_instead(session_.subjects().empty()
                            ? tr("Open a model: its maps can be changed here while it runs.")
                            : tr("Choose an input."));
  }
  show_instead({});
  shows_ = true;
  as_run_->setEnabled(open != nullptr);
  const bool picture = of_picture();
  set_role(target_, picture ? "view" : "run");
  target_->setText(picture ? tr("Changes only the picture, of all models.")
                           : tr("Changes the run of the model:"));
  for (QWidget* const control : run_only_) control->setVisible(!picture);
  for (const NumberSlider* const slider : {identity_, share_, temperature_, rank_}) {
    set_role(slider->findChild<QSlider*>(), picture ? "view" : "run");
  }
  rest_->setVisible(picture);
  if (picture) {
    show_picture();
  } else {
    badge_->set_subject(session_.place_of(open->id));
    name_->set_text(QString::fromStdString(open->subject.label));
    show_others(*open);
    show_sliders(*open);
    show_heads(*open);
    show_result(*open);
  }
  shows_ = false;
}

void WhatIfPanel::show_picture() {
  const ViewSettings& view = session_.view();
  const auto most =
      static_cast<double>(largest_rank(*session_.trace(session_.selection().subject)));
  if (rank_->range().maximum != std::max(most, 2.0)) rank_->set_range({1, std::max(most, 2.0), 1});
  temperature_->set_value(view.temperature);
  rank_->set_value(view.shown_rank > 0 ? static_cast<double>(view.shown_rank) : most);
  rest_->setChecked(view.shows_rest);
  rest_->setEnabled(view.shown_rank > 0);
  reset_->setEnabled(view.temperature != 1 || view.shown_rank > 0 || view.shows_rest);
  show_result({}, selected() != nullptr
                      ? tr("Ranks and answer stay those of the run.")
                      : tr("A trace holds what a run has recorded. To change the run and see what "
                           "follows, open the model itself."));
}

void WhatIfPanel::show_sliders(const OpenSubject& open) {
  const Trace& own = by_itself(open);
  identity_->setEnabled(all_square(own));
  play_->setEnabled(identity_->isEnabled());
  identity_->set_value(
      open.what_if.identity.value_or(shows_identity(own, IdentityView::as_is) ? 1 : 0));
  temperature_->set_value(open.what_if.temperature);
  const auto most = static_cast<double>(largest_rank(own));
  if (rank_->range().maximum != std::max(most, 2.0)) rank_->set_range({1, std::max(most, 2.0), 1});
  rank_->set_value(open.what_if.rank ? static_cast<double>(*open.what_if.rank) : most);
  if (open.what_if.toward != SubjectId::none) share_->set_value(open.what_if.share);
  reset_->setEnabled(open.what_if.any());
  const Selection& at = session_.selection();
  const bool out = std::ranges::any_of(open.what_if.heads, [&](const ReplacedHead& head) {
    return head.layer == at.layer && head.head == at.head;
  });
  drop_->setText(tr("Without head %1 of layer %2").arg(at.head).arg(at.layer));
  drop_->setEnabled(!out);
}

void WhatIfPanel::show_others(const OpenSubject& open) {
  const qlonglong before = other_->currentData().toLongLong();
  std::vector<std::pair<QString, qlonglong>> entries = {{tr("Blend with another attention…"), 0}};
  for (const OpenSubject& one : session_.subjects()) {
    const bool fits = one.id != open.id && one.subject.model == open.subject.model &&
                      one.subject.own_input == open.subject.own_input &&
                      one.what_if.toward == SubjectId::none;
    if (!fits) continue;
    entries.emplace_back(QString("%1: %2")
                             .arg(session_.place_of(one.id) + 1)
                             .arg(QString::fromStdString(one.subject.label)),
                         static_cast<qlonglong>(one.id));
  }
  if (entries != others_) {
    others_ = entries;
    other_->clear();
    for (const auto& [text, id] : entries) other_->addItem(text, id);
  }
  const auto set = static_cast<qlonglong>(open.what_if.toward);
  other_->setCurrentIndex(std::max(0, other_->findData(set != 0 ? set : before)));
  const bool possible = entries.size() > 1;
  other_->setEnabled(possible);
  other_->setToolTip(possible ? tr("The model whose maps are mixed in")
                              : tr("Overlay another mechanism on this model first: its card on the "
                                   "left, or Ctrl+Shift+P"));
  share_->setEnabled(other_->currentData().toLongLong() != 0);
  if (!share_->isEnabled()) share_->set_value(0);
}

void WhatIfPanel::show_heads(const OpenSubject& open) {
  if (listed_ == open.what_if.heads) return;
  listed_ = open.what_if.heads;
  auto* list = static_cast<QVBoxLayout*>(heads_->layout());
  for (QWidget* old : heads_->findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
    old->hide();
    old->deleteLater();
  }
  for (const ReplacedHead& head : listed_) {
    auto* row = new QWidget;
    auto* cells = new QHBoxLayout(row);
    cells->setContentsMargins(0, 0, 0, 0);
    auto* by = new ElidedComboBox;
    by->setObjectName("what_if_by");
    by->setAccessibleName(tr("Replacement of %1").arg(title_of(head)));
    const std::int64_t heads = by_itself(open).heads(head.layer);
    by->addItem(tr("nothing (zero)"));
    by->addItem(tr("equal weights"));
    by->addItem(tr("its mean row"));
    for (std::int64_t other = 0; other < heads; ++other) {
      if (other != head.head)
        by->addItem(tr("as head %1").arg(other), static_cast<qlonglong>(other));
    }
    // Replacements with parameters are chosen in the context menu of the map.
    const bool of_the_menu =
        head.by == HeadReplacement::other_attention || head.by == HeadReplacement::mean_over_data;
    if (of_the_menu) {
      by->addItem(QString::fromStdString(head.by == HeadReplacement::mean_over_data
                                             ? "its mean over " + head.data_set
                                             : "with " + in_words(head.mechanism)));
      by->setItemData(by->count() - 1, by->itemText(by->count() - 1), Qt::ToolTipRole);
      by->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    }
    by->setCurrentIndex(of_the_menu ? by->count() - 1
                        : head.by == HeadReplacement::other_head
                            ? by->findData(static_cast<qlonglong>(head.other))
                            : static_cast<int>(head.by));
    auto* back = tool_button("what_if_put_back", "✕", tr("Put %1 back").arg(title_of(head)));
    cells->addWidget(new QLabel(title_of(head)));
    cells->addWidget(by, 1);
    cells->addWidget(back);
    list->addWidget(row);
    connect(by, &QComboBox::activated, this, [this, head, by, of_the_menu](int index) {
      const OpenSubject* const now = selected();
      if (!now || (of_the_menu && index == by->count() - 1)) return;
      ReplacedHead next = head;
      next.by = static_cast<HeadReplacement>(std::min(index, 3));
      next.other = by->itemData(index).toLongLong();
      apply(*now, with_head(now->what_if, next));
    });
    connect(
        back, &QToolButton::clicked, this,
        [this, head] {
          const OpenSubject* const now = selected();
          if (now) apply(*now, without_replacement(now->what_if, head.layer, head.head));
        },
        Qt::QueuedConnection);
  }
}

void WhatIfPanel::show_result(const OpenSubject& open) {
  if (!open.ran_with.any() || !open.unchanged) {
    return show_result({}, tr("Move a slider. Maps, ranks and answer follow; the old values stay "
                              "next to the new ones."));
  }
  QString ranks;
  const auto before = spectra_.of_unchanged(open.id);
  const auto now = spectra_.latest(open.id);
  if (before && now) {
    const RankThreshold& threshold = session_.view().rank_threshold;
    const auto shown = [](const Trace& trace, const SubjectSpectra& spectra) -> const auto& {
      return shows_identity(trace, IdentityView::as_is) ? spectra.with : spectra.without;
    };
    const auto& own = shown(*open.unchanged, *before);
    const auto& changed = shown(*open.subject.trace, *now);
    const QString was = mean_rank_text(own, threshold), is = mean_rank_text(changed, threshold);
    if (!was.isEmpty() && !is.isEmpty()) ranks = tr("mean rank %1 → <b>%2</b>").arg(was, is);
  }
  // The ranks of the last run stay, marked, while the next ones are computed.
  if (!ranks.isEmpty() && spectra_.of(open.id) == nullptr) ranks += " …";
  Subject whole = open.subject;
  whole.trace = open.unchanged;
  const QString answer = likeliest(open.subject);
  show_result(ranks, answer.isEmpty()
                         ? QString()
                         : tr("answer %1 → <b>%2</b>")
                               .arg(likeliest(whole).toHtmlEscaped(), answer.toHtmlEscaped()));
}

void WhatIfPanel::show_result(const QString& ranks, const QString& answer) {
  ranks_->setText(ranks);
  ranks_->setVisible(!ranks.isEmpty());
  result_->setText(answer);
  result_->setVisible(!answer.isEmpty());
}

}  // namespace attnscope
