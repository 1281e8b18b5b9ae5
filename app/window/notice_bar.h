// A bar above the atlases for an error that belongs to no panel, shown until it is dismissed.
#pragma once

#include <QFrame>
#include <QList>
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
  struct Choice {
    QString name;  ///< "Open it"
    std::function<void()> run;
  };
  void show_error(const QString& text);
  /// Shows a note with a button for each choice until it is dismissed.
  void show_note(const QString& text, const QList<Choice>& choices = {});
  /// Shows a note with two choices until one of them is taken. An error in the meantime is shown
  /// first, and the offer again after it.
  void offer(const QString& text, Choice accept, Choice decline);
  /// Hides the error or note `shown`, as text() returned it, if it is still shown.
  void withdraw(const QString& shown);
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
  void add_button(const Choice& choice);

  QLabel* text_;
  QList<QPushButton*> buttons_;  // the note's choices
  QPushButton* action_;
  QToolButton* dismiss_;
  std::optional<Offer> offer_;
  bool offering_ = false;  // the offer is currently shown
};

}  // namespace attnscope
