// A bar above the atlases for an error that belongs to no panel, shown until it is dismissed.
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
  /// Shows a note with two choices until one of them is taken. An error in the meantime is shown
  /// first, and the offer again after it.
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
  bool offering_ = false;  // the offer is currently shown
};

}  // namespace attnscope
