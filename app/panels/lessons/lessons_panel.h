// Lessons in a dock: one after the other, each with what it lets one do.
#pragma once

#include <filesystem>

#include "app/panels/frame/dock_panel.h"

class QComboBox;

namespace attnscope {

class LessonView;
class Session;
class SpectrumStore;

class LessonsPanel : public DockPanel {
  Q_OBJECT
 public:
  LessonsPanel(Session& session, SpectrumStore& spectra, QWidget* parent = nullptr);

  /// A lesson of lesson_names() by its index.
  void show_lesson(int index);
  /// A teacher's own lesson, from a file; it joins the list. Throws Error (io, damaged).
  bool open_document(const std::filesystem::path& file) override;
  [[nodiscard]] bool is_behind() const override;

 private:
  void show_chosen();

  QComboBox* chooser_;
  LessonView* view_;
};

}  // namespace attnscope
