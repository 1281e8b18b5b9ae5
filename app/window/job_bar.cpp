#include "app/window/job_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStringList>
#include <QToolButton>
#include <utility>

#include "app/session/job_queue.h"
#include "app/widgets/progress_line.h"

namespace attnscope {

namespace {

constexpr int kSoonMs = 100;  // shorter work is not shown

}  // namespace

JobBar::JobBar(JobQueue& jobs, std::function<bool()> is_stopped, QWidget* parent)
    : QWidget(parent), jobs_(jobs), is_stopped_(std::move(is_stopped)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 4, 0);
  row->setSpacing(8);
  text_ = new QLabel;
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
    if (isHidden() && !jobs_.idle()) {
      if (!soon_.isActive()) soon_.start();
    } else {
      soon_.stop();
      refresh();
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
    text_->setText(tr("Cancelled"));
    text_->setToolTip({});
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
  text_->setText(text);
  text_->setToolTip(lines.join('\n'));
  progress_->set_fraction(done / static_cast<double>(all.size()));
}

}  // namespace attnscope
