// A row of segment buttons, which becomes a menu with the chosen one where the row does not fit.
#pragma once

#include <QList>
#include <QWidget>

class QStackedLayout;
class QToolButton;

namespace attnscope {

class Segments : public QWidget {
 public:
  explicit Segments(QWidget* parent = nullptr);
  /// Adds a button of segment_button() at the end. A hidden one is not in the menu.
  void add(QToolButton* button);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void fill_menu();
  void name_chosen();
  void fold();

  QList<QToolButton*> buttons_;
  QWidget* row_;
  QToolButton* folded_;
  QStackedLayout* stack_;
};

}  // namespace attnscope
