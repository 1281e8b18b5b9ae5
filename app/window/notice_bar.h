// An error that belongs to no panel, shown over the atlases until it is dismissed.
#pragma once

#include <QFrame>

class QLabel;

namespace attnscope {

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  void show_error(const QString& text);
  void show_note(const QString& text);
  [[nodiscard]] QString text() const;

 private:
  void show_text(const QString& text, const char* role);

  QLabel* text_;
};

}  // namespace attnscope
