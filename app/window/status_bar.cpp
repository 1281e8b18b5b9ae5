#include "app/window/status_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QStringList>
#include <QToolButton>
#include <utility>

#include "app/canvas/atlas_link.h"
#include "app/session/job_queue.h"
#include "app/session/linked_cursor.h"
#include "app/session/session.h"
#include "app/widgets/progress_line.h"
#include "core/trace/layer_name.h"
#include "core/trace/trace.h"

namespace attnscope {

namespace {

/// "Layer 3", "Cross 0": the layer's name with a capital letter.
QString capitalised_layer(const Trace& trace, std::int64_t layer) {
  const QString name = QString::fromStdString(layer_name(trace, layer));
  return name.left(1).toUpper() + name.mid(1);
}

constexpr int kSoonMs = 100;  // shorter work is not shown, nor a change until then

}  // namespace

bool LowStatusBar::event(QEvent* event) {
  const bool taken = QStatusBar::event(event);
  if (event->type() != QEvent::LayoutRequest || layout() == nullptr) return taken;
  // Qt makes another layout, with spaces above and below, when the height of a widget changes.
  bool changed = false;
  for (int i = 0; i < layout()->count(); ++i) {
    QSpacerItem* const space = layout()->itemAt(i)->spacerItem();
    if (space == nullptr || space->sizeHint().height() == 0) continue;
    space->changeSize(0, 0);
    changed = true;
  }
  if (changed) {
    layout()->invalidate();
    layout()->activate();
  }
  return taken;
}

HoverLine::HoverLine(Session& session, AtlasLink& link, QWidget* parent)
    : ElidedLabel(Qt::ElideRight, parent), session_(session), link_(link) {
  setObjectName("hover_line");
  setContentsMargins(10, 0, 0, 0);
  setMinimumWidth(0);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  connect(&session_, &Session::selection_changed, this, &HoverLine::refresh);
  connect(&session_, &Session::subjects_changed, this, &HoverLine::refresh);
  connect(&session_, &Session::view_changed, this, &HoverLine::refresh);
  refresh();
}

/// Value of the hovered cell: "0.0123", or "0.0123 (channel 3)" for a channel's map; the reason if
/// there is no such cell. Empty if the subject has no such map.
QString HoverLine::value_in(const OpenSubject& open, const HoveredCell& hover) const {
  const std::shared_ptr<const ShownMaps> maps = link_.maps(open.id);
  const std::optional<HoveredTokens> tokens = hovered_tokens(session_, open.id);
  if (!maps || !tokens || hover.layer >= maps->grid().layers) return {};
  const bool fused = maps->settings().head_fusion != HeadFusion::none;
  if (!fused && hover.head >= maps->grid().columns) return {};
  if (!tokens->query) return tr("no such query");
  if (!tokens->key) return tr("no such key");
  const std::optional<MapCell> cell = link_.linked_cell(open.id);
  if (!cell) return tr("hidden");
  const QString channel = QString::fromStdString(channel_in_words(maps->trace()));
  return QString::number(static_cast<double>(maps->value(*cell)), 'g', 6) +
         (channel.isEmpty() ? QString() : " (" + channel + ")");
}

void HoverLine::refresh() {
  const Selection& selection = session_.selection();
  const std::shared_ptr<const Trace> hovered =
      selection.hover ? session_.trace(selection.hover->subject) : nullptr;
  if (!hovered) {
    const std::shared_ptr<const Trace> selected = session_.trace(selection.subject);
    set_text(selected ? tr("%1 · head %2 · point at a map to read its values; press ? for keys")
                            .arg(capitalised_layer(*selected, selection.layer))
                            .arg(selection.head)
                      : QString());
    return;
  }
  const HoveredCell& hover = *selection.hover;
  QStringList values;
  for (const OpenSubject& open : session_.subjects()) {
    const QString value = value_in(open, hover);
    if (!value.isEmpty())
      values << QString("[%1] %2").arg(session_.place_of(open.id) + 1).arg(value);
  }
  const bool fused = session_.view().head_fusion != HeadFusion::none;
  set_text(tr("%1 · head %2 · query %3 → key %4     %5")
               .arg(capitalised_layer(*hovered, hover.layer))
               .arg(fused ? tr("fused") : QString::number(hover.head))
               .arg(QString::fromStdString(query_layout(*hovered, hover.layer).name(hover.query)),
                    QString::fromStdString(key_layout(*hovered, hover.layer).name(hover.key)),
                    values.join("     ")));
}

JobBar::JobBar(JobQueue& jobs, std::function<bool()> is_stopped, QWidget* parent)
    : QWidget(parent), jobs_(jobs), is_stopped_(std::move(is_stopped)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 4, 0);
  row->setSpacing(8);
  text_ = new ElidedLabel;  // a job's title may hold a long name, and does not widen the window
  text_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  text_->setProperty("role", "muted");
  progress_ = new ProgressLine(tr("Progress of background work"));
  progress_->setFixedWidth(120);
  cancel_ = new QToolButton;
  cancel_->setText(tr("Cancel"));
  cancel_->setObjectName("cancel_jobs");
  cancel_->setProperty("flat", true);
  cancel_->setToolTip(tr("Stop all background work"));
  row->addWidget(text_);
  row->addWidget(progress_);
  row->addWidget(cancel_);
  resume_ = new QToolButton;
  resume_->setText(tr("Resume"));
  resume_->setObjectName("resume");
  resume_->setToolTip(tr("Resume the work that was stopped"));
  row->addWidget(resume_);
  connect(cancel_, &QToolButton::clicked, &jobs_, &JobQueue::cancel_all);
  connect(resume_, &QToolButton::clicked, this, &JobBar::resume_wanted);
  soon_.setSingleShot(true);
  soon_.setInterval(kSoonMs);
  connect(&soon_, &QTimer::timeout, this, &JobBar::refresh);
  connect(&jobs_, &JobQueue::changed, this, [this] {
    if (jobs_.idle() && is_stopped_()) {
      refresh();  // it offers to resume what was cancelled
    } else if (!soon_.isActive()) {
      soon_.start();
    }
  });
  refresh();
}

void JobBar::refresh() {
  const std::vector<JobStatus> all = jobs_.status();
  setVisible(!all.empty() || is_stopped_());
  const bool ended = all.empty();
  progress_->setVisible(!ended);
  cancel_->setVisible(!ended);
  resume_->setVisible(ended);
  if (ended) {
    text_->set_tip({});
    text_->set_text(tr("Cancelled"));
    return;
  }
  double done = 0;
  double remaining = 0;
  QStringList lines;
  for (const JobStatus& job : all) {
    done += job.fraction;
    remaining = std::max(remaining, job.remaining_seconds.value_or(0));
    lines << job.title + (job.step.isEmpty() ? QString() : ": " + job.step);
  }
  QString text = all.front().title;
  if (all.size() > 1) text += tr(" and %1 more").arg(all.size() - 1);
  if (remaining > 0) text += " · " + remaining_time(remaining);
  text_->set_text(text);
  text_->set_tip(lines.join('\n'));
  progress_->set_fraction(done / static_cast<double>(all.size()));
}

}  // namespace attnscope
