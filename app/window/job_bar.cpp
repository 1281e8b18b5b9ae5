#include "app/window/job_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QStringList>
#include <QToolButton>

#include "app/session/job_queue.h"
#include "app/widgets/remaining_time.h"

namespace attnscope {

JobBar::JobBar(JobQueue& jobs, QWidget* parent) : QWidget(parent), jobs_(jobs) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 4, 0);
  row->setSpacing(8);
  text_ = new QLabel;
  text_->setProperty("role", "muted");
  progress_ = new QProgressBar;
  progress_->setTextVisible(false);
  progress_->setFixedWidth(120);
  progress_->setRange(0, 1000);
  progress_->setAccessibleName(tr("Progress of background work"));
  cancel_ = new QToolButton;
  cancel_->setText(tr("Cancel"));
  cancel_->setObjectName("cancel_jobs");
  cancel_->setProperty("flat", true);
  cancel_->setToolTip(tr("Stop all background work"));
  row->addWidget(text_);
  row->addWidget(progress_);
  row->addWidget(cancel_);
  connect(cancel_, &QToolButton::clicked, &jobs_, &JobQueue::cancel_all);
  connect(&jobs_, &JobQueue::changed, this, &JobBar::refresh);
  refresh();
}

void JobBar::refresh() {
  const std::vector<JobStatus> all = jobs_.status();
  setVisible(!all.empty());
  if (all.empty()) return;
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
  progress_->setValue(static_cast<int>(1000 * done / static_cast<double>(all.size())));
}

}  // namespace attnscope
