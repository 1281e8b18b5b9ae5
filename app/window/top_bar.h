// The one line over everything: the menus, and what one reaches for most.
#pragma once

#include <QToolBar>
#include <array>

class QDoubleSpinBox;
class QLabel;
class QMenuBar;
class QToolButton;

namespace attnscope {

class Session;

class TopBar : public QToolBar {
  Q_OBJECT
 public:
  /// The menus; the actions shown as buttons, left and right of the settings, of which `reference`
  /// is the first.
  TopBar(Session& session, QMenuBar* menus, const QList<QAction*>& left, QWidget* reference,
         const QList<QAction*>& right, QWidget* parent = nullptr);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void take_height();
  /// Leaves out words, those that are missed least first, until the rest fits.
  void fit();
  [[nodiscard]] int needed_width() const;

  Session& session_;
  QMenuBar* menus_;
  std::array<QToolButton*, 3> identity_{};
  QDoubleSpinBox* threshold_ = nullptr;
  QLabel* identity_label_;
  QLabel* threshold_label_;
  QList<QToolButton*> texted_;  ///< with words beside their icons where there is room
};

}  // namespace attnscope
