// Hash codes of the selected head by every method, redrawn as bits and supports change.
#pragma once

#include "app/panels/frame/figure_panel.h"
#include "app/session/subject_id.h"

class QToolButton;

namespace attnscope {

class NumberSlider;
struct OpenSubject;

class HashCodesPage : public FigurePanel {
  Q_OBJECT
 public:
  static constexpr const char* kTitle = QT_TR_NOOP("Hash codes");

  explicit HashCodesPage(Session& session, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] FigureRequest request() const override;
  [[nodiscard]] bool follows_room() const override { return true; }
  [[nodiscard]] QString empty_text() const override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Number of figure rows that are readable at the panel's height.
  [[nodiscard]] int rows_that_fit() const;
  /// The selected model, or the first that has run; null if none has.
  [[nodiscard]] const OpenSubject* shown_subject() const;
  void follow_selection();
  void show_limits();
  void learn();

  QToolButton* similarity_;
  QToolButton* bits_view_;
  QToolButton* learn_;
  NumberSlider* bits_;
  NumberSlider* supports_;
  NumberSlider* pairs_;
  int rows_ = 0;
  SubjectId subject_ = SubjectId::none;  // the model that is drawn
  std::int64_t layer_ = -1, head_ = -1;
};

}  // namespace attnscope
