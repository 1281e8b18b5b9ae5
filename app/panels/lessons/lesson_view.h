// Page of one lesson: text, steps, questions and experiments.
#pragma once

#include <QPointer>
#include <QScrollArea>
#include <utility>
#include <vector>

#include "app/panels/lessons/lesson.h"
#include "app/widgets/control_values.h"

class QBoxLayout;

namespace attnscope {

class DockPanel;
class Highlight;
class LessonLoan;
struct LessonAnswers;
class Session;
class SpectrumStore;
class StepRunner;

class LessonView : public QScrollArea {
  Q_OBJECT
 public:
  LessonView(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// Ends the previous lesson and restores the state before it. `answers` receives the lesson's
  /// predictions and must outlive the page. `next`: title of the next lesson, offered at the end;
  /// empty: none. Throws Error(damaged) for a step, experiment or formula that cannot be parsed.
  void show_lesson(const Lesson& lesson, LessonAnswers& answers, const QString& next = {});
  /// Shows an error instead of a lesson.
  void show_problem(const QString& problem);
  [[nodiscard]] bool is_behind() const;
  /// State that the lesson has changed.
  [[nodiscard]] LessonLoan& loan() { return *loan_; }
  /// Drops the lesson's pending commands and restores the state before the lesson.
  void end_lesson();

 signals:
  void panel_wanted(const QString& name);
  void manual_wanted(const QString& page);
  void next_wanted();     ///< the next lesson
  void restart_wanted();  ///< the lesson without its answers
  /// Emitted before a step changes the window, which must then be visible.
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
  [[nodiscard]] QWidget* summary_of(const LessonBlock& block);
  [[nodiscard]] QWidget* sheet_of(const Lesson& lesson, LessonAnswers& answers);
  [[nodiscard]] QWidget* way_on(const QString& next);
  [[nodiscard]] QWidget* main_window();
  void set_controls(const QString& panel, const ControlValues& values);
  void frame_parts(const QStringList& parts);
  void show_page(QWidget* page);
  void show_part(QWidget* part);
  void fit_type();

  Session& session_;
  SpectrumStore& spectra_;
  LessonLoan* loan_;
  StepRunner* steps_;
  QPointer<QWidget> page_;
  QPointer<Highlight> highlight_;
  /// Panels whose controls the lesson has set, with their values before it.
  std::vector<std::pair<QPointer<DockPanel>, ControlValues>> before_;
  int step_ = 0;  ///< number of steps on the page so far
};

}  // namespace attnscope
