#include "app/window/notice_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <utility>

#include "app/look/theme.h"

namespace attnscope {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  setObjectName("notice");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 6, 6, 6);
  text_ = new QLabel;
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  dismiss_ = new QToolButton;
  dismiss_->setObjectName("notice_dismiss");
  dismiss_->setProperty("flat", true);
  row->addWidget(text_, 1);
  row->addWidget(dismiss_, 0, Qt::AlignTop);
  action_ = new QPushButton;
  action_->setObjectName("notice_action");
  action_->setProperty("primary", true);
  row->insertWidget(1, action_, 0, Qt::AlignTop);
  connect(action_, &QPushButton::clicked, this, [this] { take(offer_->accept); });
  connect(dismiss_, &QToolButton::clicked, this, &NoticeBar::dismiss);
  hide();
}

QString NoticeBar::text() const { return isHidden() ? QString() : text_->text(); }

void NoticeBar::show_error(const QString& text) { show_text("⚠ " + text, "error"); }

void NoticeBar::show_note(const QString& text, const QList<Choice>& choices) {
  show_text(text, "note");
  for (const Choice& choice : choices) add_button(choice);
}

void NoticeBar::add_button(const Choice& choice) {
  auto* button = new QPushButton(choice.name);
  button->setObjectName(QString("notice_choice_%1").arg(buttons_.size()));
  qobject_cast<QHBoxLayout*>(layout())->insertWidget(2 + static_cast<int>(buttons_.size()), button,
                                                     0, Qt::AlignTop);
  connect(button, &QPushButton::clicked, this, choice.run);
  buttons_ << button;
}

void NoticeBar::offer(const QString& text, Choice accept, Choice decline) {
  offer_ = Offer{text, std::move(accept), std::move(decline)};
  if (isHidden()) show_offer();
}

void NoticeBar::show_offer() {
  show_text(offer_->text, "note");
  offering_ = true;
  action_->setText(offer_->accept.name);
  action_->show();
  dismiss_->setText(offer_->decline.name);
}

void NoticeBar::dismiss() {
  if (offering_) return take(offer_->decline);
  hide();
  if (offer_) show_offer();
}

void NoticeBar::withdraw(const QString& shown) {
  if (!offering_ && !isHidden() && text() == shown) dismiss();
}

void NoticeBar::take(const Choice& choice) {
  const std::function<void()> run = choice.run;
  offer_.reset();
  hide();
  run();
}

void NoticeBar::show_text(const QString& text, const char* role) {
  offering_ = false;
  action_->hide();
  for (QPushButton* button : std::exchange(buttons_, {})) {
    button->hide();
    button->deleteLater();  // its own click may have led here
  }
  dismiss_->setText(tr("Dismiss"));
  text_->setText(text);
  set_role(text_, role);
  setAccessibleName(text);
  show();
}

}  // namespace attnscope
