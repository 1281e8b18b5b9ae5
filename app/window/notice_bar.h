// An error that belongs to no panel, shown over the atlases until it is dismissed.
#pragma once

#include <QFrame>
#include <functional>
#include <optional>

class QLabel;
class QPushButton;
class QToolButton;

namespace attnscope {

class NoticeBar : public QFrame {
  Q_OBJECT
 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  void show_error(const QString& text);
  void show_note(const QString& text);
  struct Choice {
    QString name;  ///< "Open it"
    std::function<void()> run;
  };
  /// A note with two things to do about it; the bar closes when one of them is done. It is there
  /// until then: an error that comes meanwhile is shown, and the offer again after it.
  void offer(const QString& text, Choice accept, Choice decline);
  [[nodiscard]] QString text() const;

 private:
  struct Offer {
    QString text;
    Choice accept, decline;
  };
  void show_text(const QString& text, const char* role);
  void show_offer();
  void dismiss();
  void take(const Choice& choice);

  QLabel* text_;
  QPushButton* action_;
  QToolButton* dismiss_;
  std::optional<Offer> offer_;
  bool offering_ = false;  // the offer is what is shown
};

}  // namespace attnscope
