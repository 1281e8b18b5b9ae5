#include "app/window/atlas_cell.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPushButton>
#include <QStackedLayout>
#include <QStyle>
#include <QVBoxLayout>

#include "app/canvas/atlas_canvas.h"
#include "app/look/theme.h"
#include "app/panels/describe/role_editor.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/session/session.h"
#include "app/widgets/elided_label.h"
#include "app/widgets/subject_badge.h"
#include "app/window/atlas_head.h"

namespace attnscope {

AtlasCell::AtlasCell(Session& session, SpectrumStore& spectra, AtlasLink& link, SubjectId subject,
                     const QString& no_graphics, QWidget* parent)
    : QFrame(parent), session_(session), subject_(subject), no_graphics_(no_graphics) {
  setObjectName("atlas_cell");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(1, 1, 1, 1);
  column->setSpacing(0);
  head_ = new AtlasHead(session, spectra, link, subject);
  connect(head_, &AtlasHead::enlarge_wanted, this, &AtlasCell::enlarge_wanted);
  column->addWidget(head_);

  content_ = new QWidget;
  stack_ = new QStackedLayout(content_);
  if (no_graphics.isEmpty()) {
    canvas_ = new AtlasCanvas(session, link, subject);
    stack_->addWidget(canvas_);
  } else {
    stack_->addWidget(new QWidget);
  }
  instead_ = new QLabel;
  instead_->setWordWrap(true);
  instead_->setAlignment(Qt::AlignCenter);
  instead_->setMargin(20);
  instead_->setProperty("role", "muted");
  stack_->addWidget(instead_);
  column->addWidget(content_, 1);

  failure_ = new QWidget;
  auto* row = new QHBoxLayout(failure_);
  row->setContentsMargins(6, 3, 6, 3);
  row->setSpacing(8);
  failed_badge_ = new SubjectBadge(session.place_of(subject));
  failed_text_ = new ElidedLabel(Qt::ElideRight);
  failed_text_->setProperty("role", "error");
  describe_ = new QPushButton(tr("Assign tensor roles…"));
  options_ = new QPushButton(tr("Options…"));
  options_->setObjectName("failure_options");
  options_->setToolTip(tr("Options for reading and running the file"));
  auto* retry = retry_ = new QPushButton;
  retry->setObjectName("retry");
  auto* close = close_ = new QPushButton(tr("Close"));
  row->addWidget(failed_badge_);
  row->addWidget(failed_text_, 1);
  row->addWidget(describe_);
  row->addWidget(options_);
  row->addWidget(retry);
  row->addWidget(close);
  column->addWidget(failure_);
  connect(describe_, &QPushButton::clicked, this,
          [this] { ask_for_roles(window(), session_, subject_); });
  connect(options_, &QPushButton::clicked, this,
          [this] { ask_for_options(window(), session_, subject_); });
  connect(retry, &QPushButton::clicked, this, [this] { session_.retry(subject_); });
  // The connection is queued, because this cell is destroyed with its subject.
  connect(
      close, &QPushButton::clicked, this, [this] { session_.close(subject_); },
      Qt::QueuedConnection);
  refresh();
}

int AtlasCell::chrome_height() const { return head_->sizeHint().height() + 2; }

bool AtlasCell::settled() const {
  return failed_ || !canvas_ || !canvas_->isVisible() || canvas_->settled();
}

QString AtlasCell::instead_of_maps(const OpenSubject& open) const {
  if (open.subject.trace) return no_graphics_;
  switch (open.state) {
    case OpenSubject::State::loading:
      return tr("Opening the file…");
    case OpenSubject::State::running:
      return tr("Running the model…");
    default:
      return session_.input_error().empty()
                 ? tr("Waiting for an input: choose a sample on the left, or drop an image.")
                 : tr("The input could not be opened: choose another on the left.");
  }
}

void AtlasCell::show_failure(const OpenSubject& open) {
  failed_badge_->set_subject(session_.place_of(subject_));
  const QString error = QString::fromStdString(open.error);
  const QString label = QString::fromStdString(open.subject.label);
  QString text = "⚠ " + error.simplified();
  if (open.stopped) text = label + ": " + tr("stopped before it had maps");
  if (open.stopped && open.layers_so_far) {
    text = tr("stopped after %1 of %2 layers")
               .arg(*open.layers_so_far)
               .arg(open.subject.trace->layers.size());
  }
  failed_text_->set_text(text);
  failed_text_->set_tip(error);
  set_role(failed_text_, open.stopped ? "muted" : "error");
  retry_->setText(open.stopped ? tr("Resume") : tr("Try again"));
  options_->setVisible(!open.stopped && !open.file.empty());
  if (open.stopped || open.file.empty()) {
    describe_->hide();
  } else if (described_failure_ != open.error) {
    described_failure_ = open.error;
    describe_->setVisible(RoleEditor::is_for(open.file, open.options));
  }
}

void AtlasCell::refresh() {
  const OpenSubject* const found = session_.find(subject_);
  if (!found) return;
  failed_ = found->state == OpenSubject::State::failed;
  head_->setVisible(!failed_);
  content_->setVisible(!failed_);
  failure_->setVisible(failed_ || found->stopped);
  close_->setVisible(failed_);
  failed_badge_->setVisible(failed_);
  if (failed_ || found->stopped) show_failure(*found);
  if (!failed_) {
    head_->refresh();
    const QString instead = instead_of_maps(*found);
    instead_->setText(instead);
    stack_->setCurrentIndex(instead.isEmpty() ? 0 : 1);
  }
  const bool selected = session_.selection().subject == subject_ && session_.subjects().size() > 1;
  if (property("selected").toBool() != selected) {
    setProperty("selected", selected);
    style()->unpolish(this);
    style()->polish(this);
  }
}

void AtlasCell::mousePressEvent(QMouseEvent* event) {
  QFrame::mousePressEvent(event);
  const Selection& selection = session_.selection();
  session_.select_map(subject_, selection.layer, selection.head);
}

}  // namespace attnscope
