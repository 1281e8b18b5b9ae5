#include "app/canvas/map_title.h"

#include <QHBoxLayout>
#include <QToolButton>

#include "app/widgets/elided_label.h"
#include "app/widgets/tool_button.h"

namespace attnscope {

namespace {

constexpr int kNarrow = 260;  // pixels; below, the way back has no words

}  // namespace

MapTitle::MapTitle(QWidget* parent) : QFrame(parent) {
  setObjectName("map_title");
  previous_ = tool_button("previous_map", "‹", tr("Previous head (←)"));
  next_ = tool_button("next_map", "›", tr("Next head (→)"));
  back_ = tool_button("all_maps", tr("All maps"), tr("All maps (Esc)"));
  name_ = new ElidedLabel(Qt::ElideRight);
  name_->setObjectName("map_name");
  name_->setProperty("role", "heading");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(2, 0, 2, 0);
  row->setSpacing(2);
  for (QToolButton* button : {previous_, next_, back_}) {
    button->setProperty("flat", true);
    button->setFocusPolicy(Qt::TabFocus);  // a click leaves the keys to the maps
  }
  row->addWidget(previous_);
  row->addWidget(next_);
  row->addWidget(name_, 1);
  row->addWidget(back_);
  connect(previous_, &QToolButton::clicked, this, [this] { emit step_wanted(-1); });
  connect(next_, &QToolButton::clicked, this, [this] { emit step_wanted(1); });
  connect(back_, &QToolButton::clicked, this, &MapTitle::back_wanted);
}

void MapTitle::set_map(const QString& text, const QString& tip, bool previous, bool next) {
  name_->set_text(text);
  name_->set_tip(text + "\n" + tip);
  previous_->setEnabled(previous);
  next_->setEnabled(next);
}

QString MapTitle::text() const { return name_->full_text(); }

void MapTitle::enterEvent(QEnterEvent* event) {
  QFrame::enterEvent(event);
  emit entered();
}

void MapTitle::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  back_->setText(width() < kNarrow ? "×" : tr("All maps"));
}

}  // namespace attnscope
