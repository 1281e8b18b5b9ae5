// The tool bar: what one reaches for most.
#pragma once

#include <QToolBar>
#include <array>

class QDoubleSpinBox;
class QLabel;
class QToolButton;

namespace attnscope {

class Session;

class TopBar : public QToolBar {
  Q_OBJECT
 public:
  /// The actions shown as buttons, left and right of the settings.
  TopBar(Session& session, const QList<QAction*>& left, const QList<QAction*>& right,
         QWidget* parent = nullptr);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  /// Leaves out words, those that are missed least first, until the rest fits.
  void fit();
  [[nodiscard]] int needed_width() const;

  Session& session_;
  std::array<QToolButton*, 3> identity_{};
  QDoubleSpinBox* threshold_;
  QLabel* wordmark_;
  QLabel* identity_label_;
  QLabel* threshold_label_;
  QList<QToolButton*> texted_;  ///< with words beside their icons where there is room
};

}  // namespace attnscope
