#include "app/window/notice_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <utility>

namespace attnscope {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  setObjectName("notice");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 6, 6, 6);
  text_ = new QLabel;
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* dismiss = new QToolButton;
  dismiss->setText(tr("Dismiss"));
  dismiss->setProperty("flat", true);
  row->addWidget(text_, 1);
  row->addWidget(dismiss, 0, Qt::AlignTop);
  action_ = new QPushButton;
  action_->setObjectName("notice_action");
  action_->setProperty("primary", true);
  row->insertWidget(1, action_, 0, Qt::AlignTop);
  connect(action_, &QPushButton::clicked, this, [this] {
    hide();
    run_();
  });
  connect(dismiss, &QToolButton::clicked, this, &QWidget::hide);
  hide();
}

QString NoticeBar::text() const { return isHidden() ? QString() : text_->text(); }

void NoticeBar::show_error(const QString& text) { show_text("⚠ " + text, "error"); }

void NoticeBar::show_note(const QString& text) { show_text(text, "note"); }

void NoticeBar::offer(const QString& text, const QString& action, std::function<void()> run) {
  show_text(text, "note");
  action_->setText(action);
  action_->show();
  run_ = std::move(run);
}

void NoticeBar::show_text(const QString& text, const char* role) {
  action_->hide();
  text_->setText(text);
  text_->setProperty("role", role);
  text_->style()->unpolish(text_);
  text_->style()->polish(text_);
  setAccessibleName(text);
  show();
}

}  // namespace attnscope
