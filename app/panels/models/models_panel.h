// What is open: one card a subject, and how to open more.
#pragma once

#include <vector>

#include "app/panels/frame/dock_panel.h"

class QMenu;
class QPushButton;
class QVBoxLayout;

namespace attnscope {

class Session;
class SubjectCard;

class ModelsPanel : public DockPanel {
  Q_OBJECT
 public:
  explicit ModelsPanel(Session& session, QWidget* parent = nullptr);
  /// The menu of recent files, behind the arrow beside Open.
  void set_recent_menu(QMenu* menu);

 signals:
  void open_wanted();

 private:
  void refresh();
  void edit_options(std::int64_t id);
  void lay_over(std::int64_t id);

  Session& session_;
  QVBoxLayout* cards_row_;
  std::vector<SubjectCard*> cards_;
  std::vector<std::int64_t> ids_;
  QPushButton* open_;
  QPushButton* recent_;
};

}  // namespace attnscope
