#include "app/panels/models/models_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/panels/describe/role_editor.h"
#include "app/panels/models/structure_page.h"
#include "app/panels/models/subject_card.h"
#include "app/panels/models/subject_dialogs.h"
#include "app/session/job_queue.h"
#include "app/session/session.h"
#include "app/widgets/tool_button.h"

namespace attnscope {

namespace {

constexpr int kProgressMs = 100;  // interval of the cards' progress while jobs run

}  // namespace

ModelsPanel::ModelsPanel(Session& session, QMenu& recent_files, QWidget* parent)
    : DockPanel(tr(kTitle), parent), session_(session) {
  as_structure_ = segment_button("models_structure", tr("Structure"),
                                 tr("Parts and tensors of the selected model"), "only");
  as_structure_->setAutoExclusive(false);
  add_to_header(as_structure_);
  pages_ = new QStackedWidget;
  pages_->addWidget(make_list(recent_files));
  structure_ = new StructurePage(session_);
  structure_->become_page();
  pages_->addWidget(structure_);
  body()->addWidget(pages_, 1);
  connect(as_structure_, &QToolButton::toggled, pages_,
          [this](bool on) { pages_->setCurrentIndex(on ? 1 : 0); });
  connect(structure_, &DockPanel::enlarge_wanted, this, &DockPanel::enlarge_wanted);
  connect(&session_, &Session::restored, this, [this] {
    for (const OpenSubject& open : session_.subjects()) restored_.insert(open.id);
  });
  connect(&session_, &Session::subjects_changed, this, &ModelsPanel::describe_what_failed);
  connect(&session_, &Session::subjects_changed, this, &ModelsPanel::refresh);
  connect(&session_, &Session::selection_changed, this, &ModelsPanel::refresh);
  connect(&session_, &Session::input_changed, this, &ModelsPanel::refresh);
  connect(&session_, &Session::reference_changed, this, &ModelsPanel::refresh);
  progress_.setSingleShot(true);
  progress_.setInterval(kProgressMs);
  connect(&session_.jobs(), &JobQueue::changed, this, [this] {
    if (!progress_.isActive()) progress_.start();
  });
  connect(&progress_, &QTimer::timeout, this, [this] {
    refresh();
    if (!session_.jobs().idle()) progress_.start();
  });
  refresh();
}

QWidget* ModelsPanel::make_list(QMenu& recent_files) {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* list = new QWidget;
  list->setObjectName("card_list");
  cards_row_ = new QVBoxLayout(list);
  cards_row_->setContentsMargins(0, 0, 0, 0);
  cards_row_->setSpacing(8);
  cards_row_->addStretch(1);
  scroll->setWidget(list);
  scroll->viewport()->setAutoFillBackground(false);
  list->setAutoFillBackground(false);
  column->addWidget(scroll, 1);

  open_ = new QPushButton(tr("Open…"));
  open_->setAccessibleName(tr("Open a model or trace file"));
  open_->setToolTip(tr("Weights (.safetensors, .pt, .pth, .bin, .h5, .npz) or a trace (Ctrl+O)"));
  recent_ = new QPushButton(tr("Recent  "));
  recent_->setAccessibleName(tr("Recent files"));
  recent_->setMenu(&recent_files);
  auto* row = new QHBoxLayout;
  row->setSpacing(6);
  row->addWidget(open_, 1);
  row->addWidget(recent_);
  column->addLayout(row);
  connect(open_, &QPushButton::clicked, this, [this] { emit command_wanted("open_model"); });
  return page;
}

bool ModelsPanel::is_behind() const {
  return as_structure_->isChecked() && structure_->is_behind();
}

bool ModelsPanel::show_page(const std::string& page) {
  if (page != "structure" && page != "models") return false;
  as_structure_->setChecked(page == "structure");
  return true;
}

void ModelsPanel::refresh() {
  const std::vector<OpenSubject>& subjects = session_.subjects();
  while (cards_.size() > subjects.size()) {
    cards_.back()->deleteLater();
    cards_.back()->hide();
    cards_.pop_back();
  }
  while (cards_.size() < subjects.size()) {
    auto* card = new SubjectCard;
    const std::size_t index = cards_.size();
    const auto id = [this, index] { return index < ids_.size() ? ids_[index] : SubjectId::none; };
    connect(card, &SubjectCard::chosen, this, [this, id] {
      const Selection& selection = session_.selection();
      session_.select_map(id(), selection.layer, selection.head);
    });
    connect(card, &SubjectCard::close_wanted, this, [this, id] { session_.close(id()); });
    connect(card, &SubjectCard::retry_wanted, this, [this, id] { session_.retry(id()); });
    connect(card, &SubjectCard::describe_wanted, this,
            [this, id] { ask_for_roles(window(), session_, id()); });
    connect(card, &SubjectCard::pin_wanted, this, [this, id] {
      session_.set_reference(session_.reference() == id() ? SubjectId::none : id());
    });
    connect(
        card, &SubjectCard::channel_chosen, this,
        [this, id](std::optional<std::int64_t> channel) { session_.set_channel(id(), channel); });
    connect(card, &SubjectCard::rename_wanted, this, [this, id] {
      // The model may be closed or replaced meanwhile; the dialog identifies it by its id.
      ask_for_name(window(), session_, id());
    });
    connect(card, &SubjectCard::options_wanted, this,
            [this, id] { ask_for_options(window(), session_, id()); });
    connect(card, &SubjectCard::overlay_wanted, this, [this, id] { lay_over(id()); });
    cards_row_->insertWidget(static_cast<int>(index), card);
    cards_.push_back(card);
  }

  const std::vector<JobStatus> jobs = session_.jobs().status();
  ids_.clear();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    ids_.push_back(subjects[i].id);
    const auto job = std::ranges::find(jobs, subjects[i].job, &JobStatus::id);
    cards_[i]->show_subject(subjects[i], static_cast<std::int64_t>(i),
                            session_.selection().subject == subjects[i].id,
                            job == jobs.end() ? std::nullopt : std::optional(*job),
                            session_.input() || !session_.input_locator().empty());
    cards_[i]->show_describable(is_describable(subjects[i].id));
    cards_[i]->show_pin(subjects.size() > 1, session_.reference() == subjects[i].id);
  }
}

bool ModelsPanel::is_describable(SubjectId subject) {
  const OpenSubject* const open = session_.find(subject);
  if (!open || open->state != OpenSubject::State::failed || open->file.empty()) return false;
  const auto [known, is_new] = describable_.try_emplace({subject, open->error}, false);
  if (is_new) known->second = RoleEditor::is_for(open->file, open->options);
  return known->second;
}

void ModelsPanel::describe_what_failed() {
  for (const OpenSubject& open : session_.subjects()) {
    // Only one dialog opens, and none for models that failed in a saved session.
    if (open.state != OpenSubject::State::failed || restored_.contains(open.id)) continue;
    if (describable_.contains({open.id, open.error})) continue;
    const bool is_open = window()->findChild<RoleEditor*>() != nullptr;
    if (!is_open && isVisible() && is_describable(open.id)) {
      ask_for_roles(window(), session_, open.id);
    }
  }
}

void ModelsPanel::lay_over(SubjectId subject) {
  const OpenSubject* const open = session_.find(subject);
  if (!open) return;
  OverlayDialog dialog(open->subject, window());
  if (dialog.exec() == QDialog::Accepted) session_.overlay(subject, dialog.mechanism());
}

}  // namespace attnscope
