// The tool bar: what one reaches for most.
#pragma once

#include <QToolBar>
#include <array>

class QDoubleSpinBox;
class QToolButton;

namespace attnscope {

class Session;

class TopBar : public QToolBar {
  Q_OBJECT
 public:
  /// The actions shown as buttons, left and right of the settings.
  TopBar(Session& session, const QList<QAction*>& left, const QList<QAction*>& right,
         QWidget* parent = nullptr);

 private:
  void refresh();

  Session& session_;
  std::array<QToolButton*, 3> identity_{};
  QDoubleSpinBox* threshold_;
};

}  // namespace attnscope
