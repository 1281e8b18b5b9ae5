// One lesson on the page: its words, steps to do, questions to answer, experiments to move.
#pragma once

#include <QScrollArea>

#include "app/panels/lessons/lesson.h"

class QVBoxLayout;

namespace attnscope {

class Session;
class SpectrumStore;
class StepRunner;

class LessonView : public QScrollArea {
  Q_OBJECT
 public:
  LessonView(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// Throws Error(damaged) for a step or an experiment that is not understood.
  void show_lesson(const Lesson& lesson);
  /// Shows what went wrong instead of a lesson.
  void show_problem(const QString& problem);
  [[nodiscard]] bool is_behind() const;

 signals:
  void panel_wanted(const QString& name);

 private:
  [[nodiscard]] QWidget* text_of(const LessonBlock& block);
  [[nodiscard]] QWidget* step_of(const LessonBlock& block);
  [[nodiscard]] QWidget* question_of(const LessonBlock& block);
  [[nodiscard]] QWidget* experiment_of(const LessonBlock& block);
  void show_page(QWidget* page);

  Session& session_;
  SpectrumStore& spectra_;
  StepRunner* steps_;
  int step_ = 0;  ///< of the page so far
};

}  // namespace attnscope
