// One lesson on the page: its words, steps to do, questions to answer, experiments to move.
#pragma once

#include <QPointer>
#include <QScrollArea>

#include "app/panels/lessons/lesson.h"

class QBoxLayout;

namespace attnscope {

class LessonLoan;
class Session;
class SpectrumStore;
class StepRunner;

class LessonView : public QScrollArea {
  Q_OBJECT
 public:
  LessonView(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// Ends the lesson before: what it has set is given back. Throws Error(damaged) for a step, an
  /// experiment or a formula that is not understood.
  void show_lesson(const Lesson& lesson);
  /// Shows what went wrong instead of a lesson.
  void show_problem(const QString& problem);
  [[nodiscard]] bool is_behind() const;
  /// What the lesson has set.
  [[nodiscard]] LessonLoan& loan() { return *loan_; }
  /// Gives back what the lesson has set; what it still does ends.
  void end_lesson();

 signals:
  void panel_wanted(const QString& name);
  /// A step is about to change what the window shows, which must be seen.
  void window_wanted();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] QWidget* text_of(const std::string& markdown);
  [[nodiscard]] QWidget* heading_of(const QString& markdown);
  [[nodiscard]] QWidget* step_of(const LessonBlock& block);
  [[nodiscard]] QWidget* question_of(const LessonBlock& block);
  [[nodiscard]] QWidget* experiment_of(const LessonBlock& block);
  void show_page(QWidget* page);
  void fit_type();

  Session& session_;
  SpectrumStore& spectra_;
  LessonLoan* loan_;
  StepRunner* steps_;
  QPointer<QWidget> page_;
  int step_ = 0;  ///< of the page so far
};

}  // namespace attnscope
