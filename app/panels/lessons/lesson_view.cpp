#include "app/panels/lessons/lesson_view.h"

#include <QComboBox>
#include <QDate>
#include <QDesktopServices>
#include <QDir>
#include <QDockWidget>
#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMessageBox>
#include <QPushButton>
#include <QResizeEvent>
#include <QTimer>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>
#include <utility>

#include "app/look/theme.h"
#include "app/panels/frame/dock_panel.h"
#include "app/panels/frame/highlight.h"
#include "app/panels/frame/large_type.h"
#include "app/panels/lessons/experiments/experiment.h"
#include "app/panels/lessons/prediction_stages.h"
#include "app/panels/lessons/predictions/sheet.h"
#include "app/panels/lessons/steps/lesson_loan.h"
#include "app/panels/lessons/steps/step_runner.h"
#include "app/session/session.h"
#include "app/session/spectrum_store.h"
#include "app/widgets/file_to_save.h"
#include "app/widgets/markdown_page.h"
#include "app/widgets/wrapped_label.h"
#include "core/error.h"
#include "core/file/atomic_file.h"
#include "core/file/overwrite.h"

namespace attnscope {

namespace {

struct Card {
  QFrame* frame;
  QVBoxLayout* column;
};

Card make_card(const char* role) {
  auto* frame = new QFrame;
  frame->setProperty("card", role);
  auto* column = new QVBoxLayout(frame);
  column->setContentsMargins(12, 10, 12, 12);
  column->setSpacing(8);
  return {frame, column};
}

/// The lesson's predictions with the answers to them.
std::vector<SheetStep> steps_of(const Lesson& lesson, const LessonAnswers& answers) {
  std::vector<SheetStep> steps;
  QString heading;
  for (const LessonBlock& block : lesson.blocks) {
    if (block.kind == LessonBlock::Kind::text) {
      for (const QString& line : QString::fromStdString(block.body).split('\n')) {
        if (line.startsWith("## ")) heading = line.mid(3).trimmed();
      }
    }
    if (block.kind != LessonBlock::Kind::prediction) continue;
    steps.push_back({heading.toStdString(), block.title, block.fields, {}});
    if (steps.size() <= answers.predictions.size()) {
      steps.back().answer = answers.predictions[steps.size() - 1];
    }
  }
  return steps;
}

}  // namespace

LessonView::LessonView(Session& session, SpectrumStore& spectra, QWidget* parent)
    : QScrollArea(parent),
      session_(session),
      spectra_(spectra),
      loan_(new LessonLoan(session, this)),
      steps_(new StepRunner(session, *loan_, this)) {
  setWidgetResizable(true);
  // The scroll bar is always shown: one that appears and disappears would lay out the page twice.
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  connect(steps_, &StepRunner::panel_wanted, this, &LessonView::panel_wanted);
  connect(steps_, &StepRunner::controls_wanted, this, &LessonView::set_controls);
  connect(steps_, &StepRunner::changed, this, &LessonView::frame_parts);
}

bool LessonView::is_behind() const { return !steps_->idle(); }

void LessonView::end_lesson() {
  steps_->stop();
  if (highlight_) highlight_->clear();
  for (const auto& [panel, values] : std::exchange(before_, {})) {
    if (panel) panel->restore_settings(values);
  }
  loan_->restore();
}

QWidget* LessonView::main_window() {
  for (QWidget* one = parentWidget(); one != nullptr; one = one->parentWidget()) {
    if (qobject_cast<QMainWindow*>(one) != nullptr) return one;
  }
  return nullptr;
}

void LessonView::set_controls(const QString& name, const ControlValues& values) {
  const QWidget* const window = main_window();
  const auto* const dock = window ? window->findChild<QDockWidget*>(name) : nullptr;
  auto* const panel = dock ? qobject_cast<DockPanel*>(dock->widget()) : nullptr;
  if (!panel) return;
  const bool known =
      std::ranges::any_of(before_, [panel](const auto& one) { return one.first == panel; });
  if (!known) before_.emplace_back(panel, panel->settings());
  panel->restore_settings(values);
}

void LessonView::frame_parts(const QStringList& parts) {
  constexpr int kFramedMs = 6000;
  QWidget* const window = main_window();
  if (!window) return;
  if (!highlight_) highlight_ = new Highlight(*window, session_);
  highlight_->show_parts(parts, kFramedMs);
}

void LessonView::show_lesson(const Lesson& lesson, LessonAnswers& answers, const QString& next) {
  end_lesson();
  step_ = 0;
  std::vector<std::size_t> fields;
  for (const SheetStep& step : steps_of(lesson, {})) fields.push_back(step.fields.size());
  answers.fit(fields);
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setSpacing(12);
  auto* stages = new PredictionStages(session_, spectra_, answers, *column, page);
  connect(stages, &PredictionStages::shown, this, &LessonView::show_part);
  const auto add = [stages](QWidget* block) { stages->column().addWidget(block); };
  try {
    for (const LessonBlock& block : lesson.blocks) {
      switch (block.kind) {
        case LessonBlock::Kind::text:
          add(text_of(block.body));
          break;
        case LessonBlock::Kind::step:
          add(step_of(block));
          break;
        case LessonBlock::Kind::question:
          add(question_of(block));
          break;
        case LessonBlock::Kind::experiment: {
          QWidget* const experiment = experiment_of(block);
          stages->add_experiment(block.title, experiment);
          add(experiment->parentWidget());
          break;
        }
        case LessonBlock::Kind::summary:
          add(summary_of(block));
          break;
        case LessonBlock::Kind::prediction:
          stages->add_prediction(block, heading_of(QString::fromStdString(block.title)));
          break;
        case LessonBlock::Kind::seen:
          stages->add_seen(block, text_of(block.body));
          break;
      }
    }
  } catch (...) {
    delete page;
    throw;
  }
  if (!fields.empty()) column->addWidget(sheet_of(lesson, answers));
  if (!next.isEmpty()) column->addWidget(way_on(next));
  column->addStretch(1);
  show_page(page);
}

void LessonView::show_problem(const QString& problem) {
  auto* label = new QLabel("⚠ " + problem);
  label->setWordWrap(true);
  label->setAlignment(Qt::AlignTop);
  label->setProperty("role", "error");
  show_page(label);
}

void LessonView::show_page(QWidget* page) {
  page_ = page;
  fit_type();
  setWidget(page);
  ensureVisible(0, 0);
}

void LessonView::show_part(QWidget* part) {
  // A part has its place once the page has been laid out.
  QTimer::singleShot(0, part, [this, part] {
    for (QPushButton* const button : part->findChildren<QPushButton*>()) {
      if (!button->isVisible() || !button->isEnabled()) continue;
      button->setFocus(Qt::OtherFocusReason);
      break;
    }
    const QPoint top = part->mapTo(widget(), QPoint());
    const int shown = std::min(part->height(), viewport()->height());
    ensureVisible(0, top.y() + shown / 2, 0, shown / 2);
  });
}

void LessonView::fit_type() {
  if (!page_) return;
  const int width = viewport()->width();
  const QFont font = set_type_for_room(*page_, width);
  if (QLayout* const column = page_->layout()) {
    constexpr int kRight = 8, kBelow = 12;
    const int aside = side_margin(width - kRight, font);
    column->setContentsMargins(aside, 0, aside + kRight, kBelow);
  }
}

void LessonView::resizeEvent(QResizeEvent* event) {
  fit_type();
  QScrollArea::resizeEvent(event);
}

void LessonView::changeEvent(QEvent* event) {
  QScrollArea::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit_type();
}

QWidget* LessonView::text_of(const std::string& markdown) {
  auto* page = new MarkdownPage;
  page->show_text(QString::fromStdString(markdown));
  connect(page, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
    if (link.scheme() == "panel") {
      emit panel_wanted(link.path());
    } else if (link.scheme() == "manual") {
      emit manual_wanted(link.path());
    } else {
      QDesktopServices::openUrl(link);
    }
  });
  return page;
}

QWidget* LessonView::heading_of(const QString& markdown) {
  auto* page = new MarkdownPage;
  page->setProperty("role", "heading");
  page->show_text(markdown);
  return page;
}

QWidget* LessonView::step_of(const LessonBlock& block) {
  (void)parse_step(block.body);  // reports errors now, not in class
  const Card card = make_card("step");
  auto* row = new QHBoxLayout;
  // A heading of "1." would begin a Markdown list.
  row->addWidget(
      heading_of(tr("Step %1: %2").arg(++step_).arg(QString::fromStdString(block.title))), 1);
  auto* go = new QPushButton(tr("Do it"));
  go->setObjectName(QString("step_%1").arg(step_));
  go->setAccessibleName(tr("Do step %1: %2").arg(step_).arg(QString::fromStdString(block.title)));
  go->setProperty("primary", true);
  row->addWidget(go, 0, Qt::AlignTop);
  card.column->addLayout(row);
  auto* outcome = new QLabel;
  outcome->setWordWrap(true);
  outcome->setProperty("role", "error");
  outcome->hide();
  card.column->addWidget(outcome);
  connect(go, &QPushButton::clicked, this, [this, go, outcome, commands = block.body] {
    outcome->hide();
    go->setText(tr("Doing…"));
    // The connection is used once: the next step's end does not belong to this button.
    auto done = std::make_shared<QMetaObject::Connection>();
    *done = connect(steps_, &StepRunner::finished, go, [go, outcome, done](const QString& error) {
      QObject::disconnect(*done);
      go->setText(error.isEmpty() ? tr("Done ✓") : tr("Try again"));
      outcome->setText(error);
      outcome->setVisible(!error.isEmpty());
    });
    emit window_wanted();
    steps_->run(commands);
  });
  return card.frame;
}

QWidget* LessonView::question_of(const LessonBlock& block) {
  const Card card = make_card("question");
  card.column->addWidget(heading_of(QString::fromStdString(block.title)));
  QWidget* const answer = text_of(block.body);
  answer->hide();
  auto* reveal = new QPushButton(tr("Show the answer"));
  reveal->setCheckable(true);
  reveal->setObjectName("reveal");
  reveal->setAccessibleName(tr("Show the answer: %1").arg(QString::fromStdString(block.title)));
  card.column->addWidget(answer);
  card.column->addWidget(reveal, 0, Qt::AlignLeft);
  connect(reveal, &QPushButton::toggled, answer, [answer, reveal](bool shown) {
    answer->setVisible(shown);
    reveal->setText(shown ? tr("Hide the answer") : tr("Show the answer"));
  });
  return card.frame;
}

QWidget* LessonView::experiment_of(const LessonBlock& block) {
  const Card card = make_card("experiment");
  QWidget* const experiment =
      make_experiment(block.title, {session_, spectra_, *loan_, experiment_settings(block.body)});
  // The longest entry of a list must not widen the page.
  for (QComboBox* list : experiment->findChildren<QComboBox*>()) {
    list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    list->setMinimumContentsLength(8);
  }
  card.column->addWidget(experiment);
  return experiment;
}

QWidget* LessonView::summary_of(const LessonBlock& block) {
  const Card card = make_card("summary");
  card.column->addWidget(heading_of(tr("In short")));
  card.column->addWidget(text_of(block.body));
  return card.frame;
}

QWidget* LessonView::sheet_of(const Lesson& lesson, LessonAnswers& answers) {
  const Card card = make_card("summary");
  card.column->addWidget(heading_of(tr("Your sheet")));
  auto* name = new QLineEdit(QString::fromStdString(answers.student));
  name->setObjectName("student_name");
  name->setAccessibleName(tr("Your name"));
  name->setPlaceholderText(tr("Your name"));
  connect(name, &QLineEdit::textChanged, name,
          [&answers](const QString& text) { answers.student = text.toStdString(); });
  auto* save = new QPushButton(tr("Save the sheet…"));
  save->setObjectName("save_sheet");
  save->setToolTip(
      tr("One HTML file: questions, predictions, what was seen, pictures, your words"));
  auto* restart = new QPushButton(tr("Restart"));
  restart->setObjectName("restart_lesson");
  restart->setAccessibleName(tr("Restart the lesson"));
  auto* outcome = new WrappedLabel;
  outcome->setObjectName("sheet_outcome");
  outcome->hide();
  auto* row = new QHBoxLayout;
  row->addWidget(save);
  row->addWidget(restart);
  row->addStretch(1);
  card.column->addWidget(name);
  card.column->addLayout(row);
  card.column->addWidget(outcome);
  connect(save, &QPushButton::clicked, this, [this, lesson, &answers, outcome] {
    const QString proposed = unused_file(QDir::home(), "lesson-sheet", ".html");
    const QString file =
        file_to_save(this, tr("Save the sheet"), proposed, tr("Web pages (*.html)"), ".html");
    if (file.isEmpty()) return;
    try {
      refuse_to_overwrite_read(file.toStdString());
      write_file(file.toStdString(),
                 sheet_as_html({lesson.title, answers.student,
                                QDate::currentDate().toString(Qt::ISODate).toStdString(),
                                "attnscope " ATTNSCOPE_VERSION, steps_of(lesson, answers)}));
      outcome->setText(tr("Saved: %1").arg(file));
      set_role(outcome, "muted");
    } catch (const Error& error) {
      outcome->setText("⚠ " + QString::fromStdString(error.in_window()));
      set_role(outcome, "error");
    }
    outcome->show();
  });
  connect(restart, &QPushButton::clicked, this, [this] {
    QMessageBox box(QMessageBox::Question, tr("Restart the lesson?"),
                    tr("Its predictions, numbers, pictures and words are lost."),
                    QMessageBox::Cancel, this);
    box.addButton(QMessageBox::Yes)->setText(tr("Restart"));
    box.setDefaultButton(QMessageBox::Cancel);
    if (box.exec() == QMessageBox::Yes) emit restart_wanted();
  });
  return card.frame;
}

QWidget* LessonView::way_on(const QString& next) {
  auto* end = new QWidget;
  auto* row = new QHBoxLayout(end);
  row->setContentsMargins(0, 0, 0, 0);
  auto* title = new QLabel(tr("Next: %1").arg(next));
  title->setWordWrap(true);
  auto* go = new QPushButton(tr("Next lesson"));
  go->setObjectName("lesson_go_on");
  go->setAccessibleName(tr("Next lesson: %1").arg(next));
  go->setProperty("primary", true);
  row->addWidget(title, 1);
  row->addWidget(go);
  connect(go, &QPushButton::clicked, this, &LessonView::next_wanted, Qt::QueuedConnection);
  return end;
}

}  // namespace attnscope
