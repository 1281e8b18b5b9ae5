#include "app/panels/lessons/lessons_panel.h"

#include <QComboBox>
#include <QDockWidget>
#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <iterator>

#include "app/panels/lessons/lesson.h"
#include "app/panels/lessons/lesson_view.h"
#include "app/panels/lessons/steps/lesson_loan.h"
#include "app/widgets/elided_combo_box.h"
#include "app/widgets/wrapped_label.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int kLessonsWidth = 410;  // a line of about sixty letters, and space for experiments
constexpr const char* kAnswersSetting = "lesson_answers";  // setting of the panel

}  // namespace

LessonsPanel::LessonsPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : DockPanel(tr(kTitle), parent) {
  chooser_ = new ElidedComboBox;
  chooser_->setObjectName("lesson_chooser");
  chooser_->setAccessibleName(tr("Lesson"));
  for (const std::string_view name : lesson_names()) {
    const Lesson lesson = load_lesson(name);
    chooser_->addItem(
        QString("%1. %2").arg(chooser_->count() + 1).arg(QString::fromStdString(lesson.title)),
        QString(":/lessons/%1").arg(QString::fromUtf8(name.data(), std::ssize(name))));
  }
  auto* back = new QPushButton(tr("Back"));
  auto* next = new QPushButton(tr("Next"));
  back->setAccessibleName(tr("Previous lesson"));
  next->setAccessibleName(tr("Next lesson"));
  next->setObjectName("lesson_next");
  auto* row = new QHBoxLayout;
  row->addWidget(chooser_, 1);
  row->addWidget(back);
  row->addWidget(next);
  view_ = new LessonView(session, spectra);
  chooser_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  set_preferred_width(kLessonsWidth);
  body()->addLayout(row);
  body()->addWidget(view_, 1);
  body()->addWidget(make_loan_bar());
  add_enlarge_action();

  connect(chooser_, &QComboBox::currentIndexChanged, this, &LessonsPanel::show_chosen);
  connect(back, &QPushButton::clicked, this, [this] { show_lesson(chooser_->currentIndex() - 1); });
  connect(next, &QPushButton::clicked, this, [this] { show_lesson(chooser_->currentIndex() + 1); });
  connect(chooser_, &QComboBox::currentIndexChanged, this, [this, back, next](int index) {
    back->setEnabled(index > 0);
    next->setEnabled(index + 1 < chooser_->count());
  });
  connect(view_, &LessonView::panel_wanted, this, &DockPanel::panel_wanted);
  connect(view_, &LessonView::manual_wanted, this, &DockPanel::manual_wanted);
  connect(view_, &LessonView::next_wanted, this,
          [this] { show_lesson(chooser_->currentIndex() + 1); });
  connect(
      view_, &LessonView::restart_wanted, this,
      [this] {
        const std::string lesson = chooser_->currentData().toString().toStdString();
        answers_[lesson] = {};
        show_chosen();
      },
      Qt::QueuedConnection);
  connect(view_, &LessonView::window_wanted, this, [this] { emit enlarge_wanted(true); });
  back->setEnabled(false);
  show_chosen();
}

QWidget* LessonsPanel::make_loan_bar() {
  auto* bar = new QFrame;
  bar->setObjectName("lesson_loan");
  bar->setProperty("card", "loan");
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(12, 6, 8, 6);
  auto* said = new WrappedLabel(tr("Panels and settings are restored when the lesson ends."));
  said->setProperty("role", "muted");
  auto* end = new QPushButton(tr("End lesson"));
  end->setObjectName("lesson_end");
  row->addWidget(said, 1);
  row->addWidget(end);
  bar->hide();
  connect(end, &QPushButton::clicked, this, &LessonsPanel::end_lesson);
  connect(&view_->loan(), &LessonLoan::changed, bar,
          [this, bar] { bar->setVisible(view_->loan().is_on()); });
  return bar;
}

void LessonsPanel::end_lesson() { view_->end_lesson(); }

void LessonsPanel::showEvent(QShowEvent* event) {
  DockPanel::showEvent(event);
  if (QWidget* const dock = parentWidget()) dock->installEventFilter(this);
}

bool LessonsPanel::eventFilter(QObject* watched, QEvent* event) {
  // The close event means that the user closed the dock: it is also hidden behind other tabs, and
  // while another panel is maximised.
  if (watched == parentWidget() && event->type() == QEvent::Close) end_lesson();
  return DockPanel::eventFilter(watched, event);
}

bool LessonsPanel::is_behind() const { return isVisible() && view_->is_behind(); }

ControlValues LessonsPanel::settings() const {
  ControlValues values = DockPanel::settings();
  if (std::string answers = answers_as_text(answers_); !answers.empty()) {
    values[kAnswersSetting] = std::move(answers);
  }
  return values;
}

void LessonsPanel::restore_settings(const ControlValues& settings) {
  if (const auto kept = settings.find(kAnswersSetting); kept != settings.end()) {
    // The page refers to the answers: those of an open lesson are replaced in place.
    for (auto& [lesson, answers] : answers_of_text(kept->second)) {
      answers_[lesson] = std::move(answers);
    }
    show_chosen();
  }
  DockPanel::restore_settings(settings);
}

const LessonAnswers& LessonsPanel::answers() const {
  return answers_.at(chooser_->currentData().toString().toStdString());
}

void LessonsPanel::show_lesson(int index) {
  if (index >= 0 && index < chooser_->count()) chooser_->setCurrentIndex(index);
}

bool LessonsPanel::open_document(const std::filesystem::path& file) {
  const QString path = QString::fromStdString(file.string());
  chooser_->addItem(QString::fromStdString(read_lesson(file).title), path);
  show_lesson(chooser_->count() - 1);
  return true;
}

void LessonsPanel::show_chosen() {
  try {
    const int next = chooser_->currentIndex() + 1;
    const std::string lesson = chooser_->currentData().toString().toStdString();
    view_->show_lesson(read_lesson(lesson), answers_[lesson],
                       next < std::ssize(lesson_names()) ? chooser_->itemText(next) : QString());
  } catch (const Error& error) {
    view_->show_problem(QString::fromStdString(error.what()));
  }
}

}  // namespace attnscope
