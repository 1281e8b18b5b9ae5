#include "app/panels/lessons/lessons_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/panels/lessons/lesson.h"
#include "app/panels/lessons/lesson_view.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int kWidth = 410;  // a line of about sixty letters, and room for the experiments

}  // namespace

LessonsPanel::LessonsPanel(Session& session, SpectrumStore& spectra, QWidget* parent)
    : DockPanel(tr("Lessons"), parent) {
  chooser_ = new QComboBox;
  chooser_->setObjectName("lesson_chooser");
  chooser_->setAccessibleName(tr("Lesson"));
  chooser_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  for (const std::string_view name : lesson_names()) {
    const Lesson lesson = load_lesson(name);
    chooser_->addItem(
        QString("%1. %2").arg(chooser_->count() + 1).arg(QString::fromStdString(lesson.title)),
        QString(":/lessons/%1").arg(QString::fromUtf8(name.data(), std::ssize(name))));
  }
  auto* back = new QPushButton(tr("Back"));
  auto* next = new QPushButton(tr("Next"));
  back->setAccessibleName(tr("Lesson before"));
  next->setAccessibleName(tr("Next lesson"));
  next->setObjectName("lesson_next");
  auto* row = new QHBoxLayout;
  row->addWidget(chooser_, 1);
  row->addWidget(back);
  row->addWidget(next);
  view_ = new LessonView(session, spectra);
  chooser_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  set_preferred_width(kWidth);
  body()->addLayout(row);
  body()->addWidget(view_, 1);

  connect(chooser_, &QComboBox::currentIndexChanged, this, &LessonsPanel::show_chosen);
  connect(back, &QPushButton::clicked, this, [this] { show_lesson(chooser_->currentIndex() - 1); });
  connect(next, &QPushButton::clicked, this, [this] { show_lesson(chooser_->currentIndex() + 1); });
  connect(chooser_, &QComboBox::currentIndexChanged, this, [this, back, next](int index) {
    back->setEnabled(index > 0);
    next->setEnabled(index + 1 < chooser_->count());
  });
  connect(view_, &LessonView::panel_wanted, this, &DockPanel::panel_wanted);
  back->setEnabled(false);
  show_chosen();
}

bool LessonsPanel::is_behind() const { return isVisible() && view_->is_behind(); }

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
    view_->show_lesson(read_lesson(chooser_->currentData().toString().toStdString()));
  } catch (const Error& error) {
    view_->show_problem(QString::fromStdString(error.what()));
  }
}

}  // namespace attnscope
