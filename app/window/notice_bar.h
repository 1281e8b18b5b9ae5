// An error that belongs to no panel, shown over the atlases until it is dismissed.
#pragma once

#include <QFrame>
#include <functional>

class QLabel;
class QPushButton;

namespace attnscope {

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  void show_error(const QString& text);
  void show_note(const QString& text);
  /// A note with something to do about it; the bar closes when it is done.
  void offer(const QString& text, const QString& action, std::function<void()> run);
  [[nodiscard]] QString text() const;

 private:
  void show_text(const QString& text, const char* role);

  QLabel* text_;
  QPushButton* action_;
  std::function<void()> run_;
};

}  // namespace attnscope
