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
  /// A teacher's own, from a file; it joins the list.
  void open_lesson(const std::filesystem::path& file);
  [[nodiscard]] bool is_behind() const override;

 signals:
  void panel_wanted(const QString& name);

 private:
  void show_chosen();

  QComboBox* chooser_;
  LessonView* view_;
};

}  // namespace attnscope
