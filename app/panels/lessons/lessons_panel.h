// Dock of lessons, shown one at a time.
#pragma once

#include <filesystem>

#include "app/panels/frame/dock_panel.h"
#include "app/panels/lessons/predictions/lesson_answers.h"

class QComboBox;

namespace attnscope {

class LessonView;
class Session;
class SpectrumStore;

class LessonsPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Lessons");

  LessonsPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// Shows a lesson of lesson_names() by its index.
  void show_lesson(int index);
  /// Restores the state before the lesson. Closing the panel or choosing another lesson does the
  /// same.
  void end_lesson();
  /// Opens a user's lesson from a file and adds it to the list. Throws Error(io, damaged).
  bool open_document(const std::filesystem::path& file) override;
  [[nodiscard]] bool is_behind() const override;
  /// The controls, and the answers to predictions of all lessons since their restart.
  [[nodiscard]] ControlValues settings() const override;
  void restore_settings(const ControlValues& settings) override;
  /// The answers to the predictions of the lesson that is shown.
  [[nodiscard]] const LessonAnswers& answers() const;

  bool eventFilter(QObject* watched, QEvent* event) override;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show_chosen();
  [[nodiscard]] QWidget* make_loan_bar();

  AllAnswers answers_;
  QComboBox* chooser_;
  LessonView* view_;
};

}  // namespace attnscope
