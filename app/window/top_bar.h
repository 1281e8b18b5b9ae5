// The bar at the top of the window: the menus, and what changes the view without a run: the
// analysed matrix, the identity mapping and the threshold of the rank.
#pragma once

#include <QToolBar>
#include <array>

class QDoubleSpinBox;
class QLabel;
class QMenuBar;
class QToolButton;

namespace attnscope {

class MatrixButton;
class Session;

class TopBar : public QToolBar {
  Q_OBJECT
 public:
  /// `left` and `right` are actions shown as buttons to the left and right of the settings of the
  /// view.
  TopBar(Session& session, QMenuBar* menus, const QList<QAction*>& left,
         const QList<QAction*>& right, QWidget* parent = nullptr);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void take_height();
  /// Hides texts until the rest fits, the least important first.
  void fit();
  [[nodiscard]] int needed_width() const;

  Session& session_;
  QMenuBar* menus_;
  std::array<QToolButton*, 3> identity_{};
  QLabel* identity_word_ = nullptr;
  QDoubleSpinBox* threshold_ = nullptr;
  QToolButton* share_ = nullptr;
  MatrixButton* matrix_ = nullptr;
  QString fitted_for_;          ///< the words of matrix_ and share_ that the bar was fitted for
  QList<QToolButton*> texted_;  ///< buttons with text next to their icons if there is space
  QList<QAction*> in_menu_;     ///< the buttons at the right, which leave last
};

}  // namespace attnscope
