#include "app/panels/query/query_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/mixing/mixing.h"
#include "analysis/rollout/rollout.h"
#include "app/canvas/atlas_link.h"
#include "app/panels/query/query_view.h"
#include "app/session/job_queue.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/widgets/scale_bar.h"
#include "app/widgets/tool_button.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

constexpr const char* kMaps = "maps";  // next to the names of mixings
constexpr float kNoQuery = std::numeric_limits<float>::quiet_NaN();

}  // namespace

QueryPanel::QueryPanel(Session& session, AtlasLink& atlases, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session), atlases_(atlases) {
  row_ = segment_button("query_row", tr("Row"), tr("The selected query's row of the selected map"),
                        "first");
  rollout_ = segment_button(
      "query_rollout", tr("Rollout"),
      tr("How much of each token reaches the selected one through all layers"), "last");
  row_->setChecked(true);
  auto* segments = new QWidget;
  auto* segments_row = new QHBoxLayout(segments);
  segments_row->setContentsMargins(0, 0, 6, 0);
  segments_row->setSpacing(0);
  segments_row->addWidget(row_);
  segments_row->addWidget(rollout_);
  rolled_ = new QComboBox;
  rolled_->setObjectName("rolled_out");
  rolled_->setAccessibleName(tr("Rolled-out matrix"));
  rolled_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  const auto add = [this](const QString& title, const std::string& name, const QString& tip) {
    rolled_->addItem(title, QString::fromStdString(name));
    rolled_->setItemData(rolled_->count() - 1, tip, Qt::ToolTipRole);
  };
  add(tr("maps"), kMaps, tr("½ mean of heads + ½ I (Abnar and Zuidema 2020)"));
  for (const auto& [mixing, title] :
       {std::pair{Mixing::block_norms, tr("norms")}, std::pair{Mixing::globenc, tr("GlobEnc")},
        std::pair{Mixing::alti, tr("ALTI")}}) {
    add(title, std::string(name_of(mixing_names, mixing)),
        QString::fromStdString(std::string(formula_of(mixing))));
  }
  rolled_->hide();
  add_to_header(rolled_);
  add_to_header(segments);
  connect(rollout_, &QToolButton::toggled, rolled_, &QWidget::setVisible);
  connect(rolled_, &QComboBox::currentIndexChanged, this, &QueryPanel::refresh);

  caption_ = new QLabel;
  caption_->setWordWrap(true);
  caption_->setProperty("role", "muted");
  body()->addWidget(caption_);
  views_row_ = new QHBoxLayout;
  views_row_->setSpacing(10);
  body()->addLayout(views_row_, 1);
  scale_ = new ScaleBar;
  opacity_ = new QSlider(Qt::Horizontal);
  opacity_->setObjectName("overlay_opacity");
  opacity_->setAccessibleName(tr("Opacity of the weights over the image"));
  opacity_->setToolTip(opacity_->accessibleName());
  opacity_->setRange(0, 100);
  opacity_->setValue(80);
  opacity_->setFixedWidth(64);
  auto* below = new QHBoxLayout;
  below->setSpacing(10);
  below->addWidget(scale_, 1);
  below->addWidget(opacity_, 0, Qt::AlignTop);
  body()->addLayout(below);
  connect(opacity_, &QSlider::valueChanged, this, &QueryPanel::refresh);

  connect(row_, &QToolButton::toggled, this, &QueryPanel::refresh);
  connect(&session_, &Session::subjects_changed, this, &QueryPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &QueryPanel::refresh);
  connect(&session_, &Session::view_changed, this, &QueryPanel::refresh);
  refresh();
}

std::vector<float> QueryPanel::weights_of(const OpenSubject& open) {
  const Trace& trace = *open.subject.trace;
  const Selection& selection = session_.selection();
  const std::int64_t tokens = rollout_->isChecked() ? trace.tokens() : trace.keys(selection.layer);
  std::vector<float> weights(static_cast<std::size_t>(tokens), kNoQuery);
  // Rows of a rollout belong to the tokens of the first layer.
  const std::optional<std::int64_t> selected =
      selected_query(session_, open.id, rollout_->isChecked() ? 0 : selection.layer);
  if (rollout_->isChecked()) {
    if (!has_rollout(trace)) return weights;
    want_rollout(open);
    const std::vector<float>& all = rollouts_[open.id].weights;
    if (!all.empty() && selected && *selected < tokens) {
      const auto first = all.begin() + *selected * tokens;
      std::copy(first, first + tokens, weights.begin());
    }
    return weights;
  }
  const std::shared_ptr<const ShownMaps> maps = atlases_.maps(open.id);
  if (!maps || !selected || selection.layer >= maps->grid().layers) return weights;
  const std::int64_t column = maps->grid().columns == 1 ? 0 : selection.head;
  if (column >= maps->grid().columns) return weights;
  const MapExtent extent = maps->extent(selection.layer, column);
  const std::int64_t query = maps->row_of(selection.layer, *selected);
  if (query < 0 || query >= extent.queries ||
      maps->key_of(selection.layer, extent.keys - 1) >= tokens) {
    return weights;
  }
  std::vector<float> row(static_cast<std::size_t>(extent.keys));
  maps->row(selection.layer, column, query, 0, row);
  for (std::int64_t key = 0; key < extent.keys; ++key) {
    weights[static_cast<std::size_t>(maps->key_of(selection.layer, key))] =
        row[static_cast<std::size_t>(key)];
  }
  return weights;
}

void QueryPanel::want_rollout(const OpenSubject& open) {
  Rollout& rollout = rollouts_[open.id];
  const std::string by = rolled_->currentData().toString().toStdString();
  if (rollout.trace == open.subject.trace && rollout.by == by) return;
  session_.jobs().cancel(rollout.job);
  rollout = {open.subject.trace, by, {}, {}, 0};
  const auto current = [this, id = open.id, trace = rollout.trace, by]() -> Rollout* {
    Rollout& known = rollouts_[id];
    return known.trace == trace && known.by == by ? &known : nullptr;
  };
  rollout.job = session_.jobs().submit(
      tr("Rollout of %1").arg(QString::fromStdString(open.subject.label)),
      [this, subject = open.subject, by, current](const Progress& progress) -> JobQueue::Delivery {
        const Tensor reach =
            by == kMaps
                ? attention_rollout(*subject.trace, 0, progress)
                : mixing_rollout(subject, value_of(mixing_names, by, "mixing"), 0, progress);
        return
            [this, current, weights = std::vector(reach.values().begin(), reach.values().end())] {
              Rollout* const known = current();
              if (!known) return;
              known->weights = weights;
              refresh();
            };
      },
      [this, current](const JobFailure& failure) {
        Rollout* const known = current();
        if (!known) return;
        known->error = failure.cancelled ? tr("stopped") : QString::fromStdString(failure.what);
        refresh();
      },
      this);
}

void QueryPanel::add_view() {
  auto* view = new QueryView;
  view->setObjectName(QString("query_view_%1").arg(views_.size()));
  connect(view, &QueryView::clicked, this, [this, view](std::int64_t token) {
    Selection selection = session_.selection();
    selection.subject = view->picture().subject;
    if (const auto trace = session_.trace(selection.subject)) {
      selection.query =
          same_place(view->picture().layout, token, query_layout(*trace, selection.layer),
                     trace->queries(selection.layer));
    }
    session_.select(selection);
  });
  connect(view, &QueryView::hovered, this, [this, view](std::optional<std::int64_t> token) {
    Selection selection = session_.selection();
    const SubjectId subject = view->picture().subject;
    const auto query = selected_query(session_, subject, selection.layer);
    selection.hover.reset();
    if (token && query) {
      selection.hover = {subject, selection.layer, selection.head, *query, *token};
    }
    session_.select(selection);
  });
  views_row_->addWidget(view, 1);
  views_.push_back(view);
}

void QueryPanel::refresh() {
  std::vector<const OpenSubject*> ready;
  for (const OpenSubject& open : session_.subjects()) {
    if (open.subject.trace) ready.push_back(&open);
  }
  std::erase_if(rollouts_, [this](const auto& known) { return !session_.find(known.first); });
  if (ready.empty()) {
    show_instead(
        session_.subjects().empty()
            ? tr("Open a model to see what a token attends to, over the image or the text.")
            : tr("Appears as soon as a model has run on the input."));
    return;
  }
  show_instead({});

  while (views_.size() > ready.size()) {
    views_.back()->deleteLater();
    views_.pop_back();
  }
  while (views_.size() < ready.size()) add_view();

  const Selection& selection = session_.selection();
  const bool rolled = rollout_->isChecked();
  std::vector<std::vector<float>> weights;
  std::vector<std::int64_t> own;  // key at the query's position; −1: none
  double largest = 0;
  for (const OpenSubject* open : ready) {
    const Trace& trace = *open->subject.trace;
    weights.push_back(weights_of(*open));
    const auto keys = std::ssize(weights.back());
    const auto query = selected_query(session_, open->id, selection.layer);
    const TokenLayout& layout = rolled ? trace.layout : key_layout(trace, selection.layer);
    own.push_back(query ? same_place(query_layout(trace, selection.layer), *query, layout, keys)
                        : -1);
    // A query's own cell contains I, or half of the rollout; it is left out, because it would
    // darken all others.
    for (std::int64_t key = 0; key < keys; ++key) {
      const float weight = weights.back()[static_cast<std::size_t>(key)];
      if (key != own.back() && std::isfinite(weight)) {
        largest = std::max(largest, static_cast<double>(weight));
      }
    }
  }
  const ViewSettings& view = session_.view();
  ColourScale scale;
  scale.label = rolled ? "share of the token reached" : "weight of the key";
  scale.colour_map = view.colour_map;
  scale.reversed = view.reversed_colours;
  scale.norm = view.norm;
  scale.maximum = largest > 0 ? largest : 1;

  for (std::size_t i = 0; i < ready.size(); ++i) {
    const OpenSubject& open = *ready[i];
    const Trace& trace = *open.subject.trace;
    const auto hovered = hovered_tokens(session_, open.id);
    views_[i]->set_picture({open.id, session_.place_of(open.id),
                            QString::fromStdString(open.subject.label), open.subject.trace,
                            rolled ? trace.layout : key_layout(trace, selection.layer),
                            std::move(weights[i]), scale, own[i], own[i] >= 0,
                            hovered ? hovered->key : std::nullopt, opacity_->value() / 100.0});
  }
  opacity_->setVisible(std::ranges::any_of(
      ready, [](const OpenSubject* open) { return open->subject.trace->image.has_value(); }));
  caption_->setText(caption(ready));
  scale_->set_scale(scale);
}

QString QueryPanel::caption(const std::vector<const OpenSubject*>& ready) const {
  const Selection& selection = session_.selection();
  const auto label = [](const OpenSubject& open) {
    return QString::fromStdString(open.subject.label);
  };
  const bool rolled = rollout_->isChecked();
  for (const OpenSubject* open : ready) {
    if (rolled && !has_rollout(*open->subject.trace)) {
      return tr("No rollout for %1: its layers have other tokens, or fewer keys than queries")
          .arg(label(*open));
    }
  }
  for (const OpenSubject* open : ready) {
    const auto known = rollouts_.find(open->id);
    if (!rolled || known == rollouts_.end() || known->second.error.isEmpty()) continue;
    return tr("No rollout for %1: %2").arg(label(*open), known->second.error);
  }
  const OpenSubject* const selected = session_.find(selection.subject);
  const OpenSubject& named = selected && selected->subject.trace ? *selected : *ready.front();
  const QString token = QString::fromStdString(
      query_layout(*named.subject.trace, selection.layer).name(selection.query));
  QString text =
      rolled ? tr("Token %1 through all layers").arg(token)
             : tr("Query %1 · %2 · head %3")
                   .arg(token)
                   .arg(QString::fromStdString(layer_name(*named.subject.trace, selection.layer)))
                   .arg(session_.view().head_fusion == HeadFusion::none
                            ? QString::number(selection.head)
                            : tr("fused"));
  for (const OpenSubject* open : ready) {
    if (selected_query(session_, open->id, selection.layer)) continue;
    text += tr(" · no such token in %1").arg(label(*open));
  }
  return text;
}

}  // namespace attnscope
