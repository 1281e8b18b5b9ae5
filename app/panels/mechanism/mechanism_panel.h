// Quantities of the selected model's own mechanism: position biases, keys as pictures,
// importances of tokens, hash codes. Each page says of which model, layer and head it is.
#pragma once

#include <string>
#include <vector>

#include "app/panels/frame/dock_panel.h"
#include "app/session/subject_id.h"

class QStackedWidget;
class QToolButton;

namespace attnscope {

class Segments;
class Session;
struct OpenSubject;

class MechanismPanel : public DockPanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("This mechanism");

  explicit MechanismPanel(Session& session, QWidget* parent = nullptr);

  /// True if the selected model has any of it.
  [[nodiscard]] static bool has_content(const Session& session);
  /// True if hash codes can be learned: some model has run.
  [[nodiscard]] static bool has_codes(const Session& session);

  [[nodiscard]] bool is_behind() const override;
  /// Brings a page to the front, also while the selected model has nothing for it. It stays until a
  /// model with pages of its own is selected.
  bool show_page(const std::string& page) override;
  [[nodiscard]] ControlValues settings() const override;
  void restore_settings(const ControlValues& settings) override;

 private:
  struct Page {
    const char* name;
    DockPanel* panel;
    QToolButton* button;
  };
  void add_page(const char* name, DockPanel* panel, const char* place);
  void refresh();
  void show_note();
  [[nodiscard]] const Page& shown() const;

  Session& session_;
  std::vector<Page> pages_;
  Segments* segments_;
  QStackedWidget* stack_;
  std::string asked_for_;  ///< the page of the last show_page; empty: the model decides
  SubjectId asked_with_ = SubjectId::none;  ///< the model that was selected then
};

}  // namespace attnscope
